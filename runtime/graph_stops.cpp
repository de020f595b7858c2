#include "graph_stops.hpp"

#include "object_states.hpp"
#include "text.hpp"

namespace memfence::running {

using graphs::ActionKind;
using graphs::Order;
using graphs::Value;

void refuse_in_graphs(const char* what, void* pc) {
  if (!world.makes_graphs) return;
  Text<160> message;
  message << what << " cannot be explored under rc11";
  world.fail(Finding::Unsupported, message.content(), pc);
}

void World::remember_initial(const Wish& wish, int location) {
  const auto n = static_cast<std::size_t>(location);
  if (n >= initial_.size()) initial_.resize(n + 1);
  Initial& known = initial_[n];
  if (known.is_known) return;
  if (wish.object_kind >= 0)
    known.value = state_of_object(wish.object, wish.object_kind);
  else if (wish.cell.size != 0)
    known.value = static_cast<Value>(wish.cell.read());
  else
    return;
  known.is_known = true;
}

void World::settle_object() {
  Fiber& me = *current;
  if (me.object == nullptr) return;
  if (me.restores_object) {
    set_object(me.object, me.object_kind, me.object_state);
  } else {
    me.has_update = true;
    me.update = state_of_object(me.object, me.object_kind);
  }
  me.object = nullptr;
}

Value World::stop(const Wish& wish, const GraphStop& ask) {
  Fiber& me = *current;
  settle_object();
  ++progress;
  me.unnoticed = 0;
  if (me.has_update) me.trail.push_back(me.trail.back());
  me.trail.push_back(wish.pc);
  me.wish = wish;
  me.ask = ask;
  me.choice = 0;
  if (ask.location >= 0) remember_initial(wish, ask.location);
  judge_whim(me);
  next(me);
  scrub_below();
  me.has_update = false;
  me.asked = me.ask;
  logged_ = logs && ask.kind != ActionKind::Choice;
  if (logged_) write_down(me);
  return me.given;
}

// The execution does not count from here on: what follows is met in others.
void World::give_up_execution(void* pc) {
  Wish wish;
  wish.pc = pc;
  GraphStop ask;
  ask.kind = ActionKind::Void;
  stop(wish, ask);
}

void World::follow_whim(Whim whim, void* site, void* object, std::uint64_t state) {
  current->probe = Probe{};
  current->has_failed_for_no_reason |= whim == Whim::Failure;
  current->probe.whim = whim;
  current->probe.site = site;
  current->probe.changes = current->changes;
  current->probe.object = object;
  current->probe.state = state;
}

// Nothing for no reason, if that was asked for.
bool World::may_be_spurious(Whim whim) {
  if (most_spurious > 0) return true;
  (whim == Whim::WakeUp ? has_more_wake_ups : has_more_failures) = true;
  return false;
}

bool World::is_back_asleep(const void* object, std::uint64_t state) const {
  const Probe& probe = current->probe;
  return probe.whim == Whim::WakeUp && probe.object == object && probe.state == state && probe.changes == current->changes;
}

// Something spurious happened to the thread before this step. If it is back where it was, what follows is met without.
// Else it counts, and beyond the bound the execution is cut.
void World::judge_whim(Fiber& me) {
  if (me.wish.spins && !me.wish.spins_roughly && me.wish.spins_after_whim) me.ask.kind = ActionKind::Void;
  if (me.wish.spins && me.ask.kind != ActionKind::Void) me.ask.kind = ActionKind::Cut;
  if (me.probe.whim == Whim::None) return;
  const bool looks = me.ask.kind == ActionKind::Read && me.ask.updates == GraphStop::Updates::Never;
  if (me.probe.whim == Whim::WakeUp && looks && me.changes == me.probe.changes) return;  // perhaps it only looks
  const Probe probe = me.probe;
  me.probe = Probe{};
  if (me.ask.kind == ActionKind::Void) return;
  int count = 0;
  for (SpuriousCount& known : me.spurious)
    if (known.site == probe.site) count = ++known.count;
  if (count == 0) me.spurious.push_back({probe.site, 1}), count = 1;
  if (count <= most_spurious) return;
  (probe.whim == Whim::WakeUp ? has_more_wake_ups : has_more_failures) = true;
  me.ask.kind = ActionKind::Void;
}

void World::initialised(void* object, Synchronisation kind, void* pc) {
  if (!makes_graphs || is_alone()) return;
  settle();
  changed();
  Wish wish = wish_for(object, kind, "initialisation", pc, nullptr);
  const Value state = state_of_object(object, kind);
  stop(wish, writing(wish.number, state, graphs::kAtomic));
}

void World::stop_as_graph(const Wish& wish) {
  Fiber& me = *current;
  if (is_alone() && !wish.is_void) {
    me.wish = wish;
    logged_ = false;
    if (wish.is_ready == nullptr || wish.is_ready(me)) return;
  }
  GraphStop ask;
  if (wish.is_void || is_alone()) {
    ask.kind = wish.is_void ? ActionKind::Void : ActionKind::Waiting;
    stop(wish, ask);
    return;
  }
  if (wish.what == Wish::What::Fence) {
    ask.kind = ActionKind::Fence;
    ask.order = order_of_fence(__ATOMIC_SEQ_CST);
    stop(wish, ask);
    return;
  }
  const bool is_object = wish.what == Wish::What::Synchronise || wish.what == Wish::What::End;
  if (!is_object || wish.object_kind < 0 || wish.number < 0 || !has_room_for(wish.object_kind, me)) {
    refuse_in_graphs(wish.name == nullptr ? "this step" : wish.name, wish.pc);
  }
  const bool is_own_exit = wish.object_kind == kExit && wish.object == &me;
  if (wish.object_kind == kBirth || is_own_exit) {
    stop(wish, writing(wish.number, 1, graphs::kAtomic | graphs::kRelease));
    return;
  }
  const bool looks = wish.role == Role::Looks;
  ask = reading(wish.number, graphs::kAtomic | (wish.role == Role::Gives ? 0 : graphs::kAcquire));
  if (wish.tries != nullptr && wish.role == Role::Takes) ask.otherwise = graphs::kAtomic;
  ask.of_write = static_cast<Order>(graphs::kAtomic | (wish.role == Role::Takes ? 0 : graphs::kRelease));
  ask.updates = looks                   ? GraphStop::Updates::Never
                : wish.tries != nullptr ? GraphStop::Updates::IfReady
                                        : GraphStop::Updates::Always;
  const Value given = stop(wish, ask);
  me.object = wish.object;
  me.object_kind = wish.object_kind;
  me.object_state = state_of_object(wish.object, wish.object_kind);
  set_object(wish.object, wish.object_kind, given);
  me.restores_object = looks || (wish.tries != nullptr && !wish.tries(me));
}

}  // namespace memfence::running
