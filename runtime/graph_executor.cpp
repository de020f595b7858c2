#include "graph_executor.hpp"

#include "object_states.hpp"

namespace memfence::running {

using graphs::Action;
using graphs::ActionKind;
using graphs::EventId;
using graphs::ExecutionGraph;
using graphs::Outlook;
using graphs::Value;

namespace {

constexpr std::size_t kMostKnown = 1 << 20;  // of what reads in loops lead to
constexpr int kMostReads = 400;             // reads of a loop that only reads
constexpr int kFewRounds = 4;               // of a loop that may as well be one that counts

std::uint64_t mix(std::uint64_t state, std::uint64_t value, std::uint64_t factor) {
  state = (state ^ value) * factor;
  return state ^ (state >> 29);
}

// How often the thread has read there, having changed nothing since.
int rounds_of(const Fiber& fiber, const Wish& wish) {
  int rounds = 0;
  for (const Seen& seen : fiber.seen) rounds += seen.pc == wish.pc && seen.cell.address == wish.cell.address;
  return rounds;
}

}  // namespace

static_assert(graphs::Executor<GraphExecutor>);

void GraphExecutor::start_quiet_threads() {
  for (int id = 0; id < world.known_threads(); ++id) {
    Fiber& fiber = world.fiber(id);
    if (fiber.state != Fiber::State::Running || !fiber.quiet_birth || fiber.wish.what != Wish::What::Begin) continue;
    const Value none = 0;
    world.run(&id, &none, 1);
  }
}

void GraphExecutor::begin() {
  world.reset();
  start_quiet_threads();
  if (static_cast<std::size_t>(world.known_threads()) > threads_.size())
    threads_.resize(static_cast<std::size_t>(world.known_threads()));
  for (Thread& thread : threads_) thread.is_ahead = false;
  is_behind_ = false;
}

void GraphExecutor::reset() {
  if (world.cells.learned) {
    known_.clear();
    world.forget_initial();
    world.cells.learned = false;
  }
  turns_.clear();
  given_.clear();
  for (Thread& thread : threads_) {
    thread.taken.clear();
    thread.completes = false;
  }
  begin();
}

void GraphExecutor::repeat() {
  begin();
  world.run(turns_.data(), given_.data(), turns_.size());
}

void GraphExecutor::catch_up() {
  if (!is_behind_) return;
  taken_again += turns_.size();
  repeat();
}

Action GraphExecutor::next(int id) {
  Action action;
  const Fiber& fiber = world.fiber(id);
  if (static_cast<std::size_t>(id) >= threads_.size()) threads_.resize(static_cast<std::size_t>(world.known_threads()));
  const Thread& thread = of(id);
  if (thread.completes) {  // before what it goes on to: there may be no place for the write
    action.kind = ActionKind::Write;
    action.is_update = true;
    action.order = fiber.asked.of_write;
    action.location = fiber.asked.location;
    action.value = fiber.update;
    return action;
  }
  if (world.failure.kind != Finding::None) {
    action.kind = world.failure.thread == id ? ActionKind::Failed : ActionKind::Ended;
    return action;
  }
  if (!thread.is_ahead) {
    if (fiber.state == Fiber::State::Unborn) return action;
    if (fiber.state == Fiber::State::Done) {
      action.kind = ActionKind::Ended;
      return action;
    }
    if (fiber.is_endless) {
      action.kind = ActionKind::Waiting;
      return action;
    }
  }
  const GraphStop& ask = ask_of(id);
  action.kind = ask.kind;
  action.order = ask.order;
  action.location = ask.location;
  action.value = ask.value;
  action.may_wait = ask.may_loop || wish_of(id).object_kind >= 0;
  action.ways = ask.ways;
  if (action.is_event() && thread.taken.size() >= depth_) action.kind = ActionKind::Cut;
  return action;
}

// Whether the object, in this state, lets the thread do that.
bool GraphExecutor::is_ready(const Fiber& fiber, const Wish& wish, Value state, bool (*test)(const Fiber&)) const {
  if (test == nullptr) return true;
  const Value now = state_of_object(wish.object, wish.object_kind);
  set_object(wish.object, wish.object_kind, state);
  const bool ready = test(fiber);
  set_object(wish.object, wish.object_kind, now);
  return ready;
}

Outlook GraphExecutor::outlook(int id, Value value) {
  const Fiber& fiber = world.fiber(id);
  const GraphStop ask = ask_of(id);
  const Wish& wish = wish_of(id);
  if (wish.what == Wish::What::Begin) return {value == 0, false, ask.order};
  if (wish.object_kind == kExit && ask.kind == ActionKind::Read) return {value == 0, false, ask.order};
  if (wish.object_kind >= 0) {
    const bool blocks = !is_ready(fiber, wish, value, wish.is_ready);
    const bool takes = ask.updates == GraphStop::Updates::Always ||
                       (ask.updates == GraphStop::Updates::IfReady && is_ready(fiber, wish, value, wish.tries));
    return {blocks, takes && !blocks, takes || wish.tries == nullptr ? ask.order : ask.otherwise};
  }
  const bool updates =
      ask.updates == GraphStop::Updates::Always || (ask.updates == GraphStop::Updates::IfExpected && value == ask.value);
  const bool has_both = ask.updates == GraphStop::Updates::IfExpected;
  const graphs::Order order = has_both && !updates ? ask.otherwise : ask.order;
  return {ask.may_loop && leads_back(id, value), updates, order};
}

GraphExecutor::Case GraphExecutor::case_of(int id, Value value) const {
  const Thread& thread = threads_[static_cast<std::size_t>(id)];
  Case found{static_cast<std::uint64_t>(id) + 1, static_cast<std::uint64_t>(id) + 77};
  const auto add = [&](Value one) {
    found.a = mix(found.a, static_cast<std::uint64_t>(one) + 0x632be59bd9b4e019u, 0x9e3779b97f4a7c15u);
    found.b = mix(found.b, static_cast<std::uint64_t>(one) + 0xd1b54a32d192ed03u, 0xbf58476d1ce4e5b9u);
  };
  for (const Value one : thread.taken) add(one);
  add(static_cast<Value>(thread.taken.size()));
  add(value);
  return found;
}

bool GraphExecutor::leads_back(int id, Value value) {
  const Case asked = case_of(id, value);
  if (const auto known = known_.find(asked); known != known_.end()) return known->second;
  const bool back = run_ahead(id, value);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(asked, back);
  return back;
}

// Back is where the thread has been before, knowing the same, and having changed nothing since. A thread that goes round and
// round knowing something else each time, a count of its rounds for example, is taken for one that waits as well.
bool GraphExecutor::run_ahead(int id, Value value) {
  catch_up();
  Thread& thread = of(id);
  if (thread.is_ahead) is_behind_ = true;
  catch_up();
  Fiber& fiber = world.fiber(id);
  const GraphStop before = fiber.ask;
  const Wish wish_before = fiber.wish;
  world.run(&id, &value, 1);
  thread.is_ahead = true;
  thread.ahead = value;
  thread.before = before;
  thread.wish_before = wish_before;
  const auto has_stopped = [&] {
    return world.failure.kind == Finding::None && fiber.state == Fiber::State::Running && !fiber.is_endless;
  };
  if (world.failure.kind != Finding::None) {  // if the explorer takes the value, it will be met again
    is_behind_ = true;
    catch_up();
    return false;
  }
  if (!has_stopped()) return false;
  if (fiber.has_update && fiber.update != value) return false;
  if (fiber.wish.spins) {
    is_behind_ = true;
    return true;
  }
  // Not back yet. If it was here often enough, go round with the same values, to see whether it ever ends.
  if (rounds_of(fiber, wish_before) < kFewRounds) return false;
  for (int rounds = 0; rounds < kMostReads && has_stopped(); ++rounds) {
    const Seen* last = nullptr;
    for (const Seen& seen : fiber.seen)
      if (seen.pc == fiber.wish.pc && seen.cell.address == fiber.wish.cell.address) last = &seen;
    if (fiber.ask.kind != ActionKind::Read || !fiber.ask.may_loop || last == nullptr) break;
    if (fiber.wish.spins) {
      is_behind_ = true;
      return fiber.wish.spins_roughly;
    }
    is_behind_ = true;
    const auto same = static_cast<Value>(last->value);
    world.run(&id, &same, 1);
    if (fiber.has_update && fiber.update != same) break;
  }
  if (is_behind_) thread.ahead = value;
  return false;
}

bool GraphExecutor::waits_for_ever(int id, const ExecutionGraph& graph) {
  const auto newest = [&](int location) {
    const auto& writes = graph.writes(location);
    return writes.empty() ? initial(location) : graph.event(writes.back()).value;
  };
  const Value value = newest(graph.event(graph.last(id)).location);
  if (!outlook(id, value).blocks) return false;
  const Fiber& fiber = world.fiber(id);
  if (!ask_of(id).may_loop || wish_of(id).object_kind >= 0) return true;
  run_ahead(id, value);
  if (!fiber.wish.spins || fiber.wish.spins_roughly) return false;
  for (std::size_t n = fiber.wish.awaited; n < fiber.seen.size(); ++n)
    if (fiber.seen[n].number >= 0 && static_cast<Value>(fiber.seen[n].value) != newest(fiber.seen[n].number)) return false;
  return true;
}

void GraphExecutor::resume(int id, Value value) {
  catch_up();
  Thread& thread = of(id);
  if (thread.is_ahead && thread.ahead != value) {
    is_behind_ = true;
    catch_up();
  }
  if (thread.is_ahead)
    thread.is_ahead = false;
  else
    world.run(&id, &value, 1);
  turns_.push_back(id);
  given_.push_back(value);
}

void GraphExecutor::take(int id, Value value) {
  Thread& thread = of(id);
  if (thread.completes) {
    thread.taken.push_back(world.fiber(id).update);
    thread.completes = false;
    return;
  }
  const bool reads = ask_of(id).kind == ActionKind::Read;
  resume(id, value);
  Thread& now = of(id);
  now.taken.push_back(value);
  now.completes = reads && world.fiber(id).has_update;
  if (static_cast<std::size_t>(world.known_threads()) > threads_.size())
    threads_.resize(static_cast<std::size_t>(world.known_threads()));
}

void GraphExecutor::follow(const ExecutionGraph& graph) {
  bool drops = world.failure.kind != Finding::None || is_behind_;
  for (int id = 0; id < static_cast<int>(threads_.size()) && !drops; ++id)
    drops = static_cast<int>(of(id).taken.size()) > (id < graph.threads() ? graph.settled(id) : 0) || of(id).is_ahead;
  graph.replay_order(order_);
  if (drops) {
    turns_.clear();
    given_.clear();
    begin();
    for (Thread& thread : threads_) thread.taken.clear();
  }
  const std::size_t first = turns_.size();
  if (static_cast<std::size_t>(graph.threads()) > threads_.size()) threads_.resize(static_cast<std::size_t>(graph.threads()));
  for (const EventId id : order_) {
    Thread& thread = of(graphs::thread_of(id));
    if (graphs::number_of(id) < static_cast<int>(thread.taken.size())) continue;
    const graphs::Event& event = graph.event(id);
    thread.taken.push_back(event.value);
    if (event.writes() && event.is_update) continue;  // its read was the turn
    turns_.push_back(graphs::thread_of(id));
    given_.push_back(event.value);
  }
  taken_again += turns_.size() - first;
  world.run(turns_.data() + first, given_.data() + first, turns_.size() - first);
  for (int id = 0; id < static_cast<int>(threads_.size()); ++id) {
    const int taken = id < graph.threads() ? graph.taken(id) : 0;
    const bool has_read = taken > 0 && graph.event(graphs::event_id(id, taken - 1)).reads();
    of(id).completes = has_read && graph.event(graphs::event_id(id, taken - 1)).is_update && world.fiber(id).has_update;
  }
}

}  // namespace memfence::running
