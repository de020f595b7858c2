// The running program as an executor of the core's explorer.
//
// What the program did cannot be undone: going back is resetting and repeating the first steps, put off until the next step
// is asked for. The steps are then handed to the fibers as a list, in one go.
//
// With simulated store buffers each thread has a companion, which moves its stores to memory: one at a time, any that may
// go next. Storing and moving both write the buffer, an address of its own; what has to wait for an empty one reads it.
#pragma once

#include "findings.hpp"
#include "stateless/explorer.hpp"
#include "world.hpp"

namespace memfence::running {

class ProgramExecutor {
 public:
  explicit ProgramExecutor(Findings& findings)
      : findings_(findings), threads_(world.known_threads() * (world.simulates ? 2 : 1)) {
    if (!world.simulates) return;
    for (int id = 0; id < world.known_threads(); ++id)
      buffers_.push_back(world.cells.synchronisation(&world.fiber(id), kBuffer));
  }

  int threads() const { return threads_; }
  int addresses() const { return world.cells.numbered(); }
  std::int64_t initial(int) const { return 0; }
  std::size_t starts() const { return 1; }
  void reset(std::size_t) {
    steps_.clear();
    world.reset();
    is_behind_ = false;
  }

  void offer(int thread, Offers& offers);
  bool is_done(int thread) const {
    if (!is_companion(thread)) return world.is_done(thread);
    return world.is_over() || world.fiber(thread - world.known_threads()).buffer.empty();
  }
  bool meets_in_memory_only() const { return true; }

  std::size_t mark() const { return steps_.size(); }
  void go_back(std::size_t steps) {
    is_behind_ |= steps != steps_.size();
    steps_.resize(steps);
  }
  Executed execute(const Alternative& step, Offers& offers);
  std::size_t notes() const { return 0; }
  void drop_notes(std::size_t) {}

  Monitor make_monitor() const {
    Monitor monitor(true);
    monitor.ensure_threads(static_cast<std::uint32_t>(threads_));
    return monitor;
  }
  StepShape shape(const Alternative& step) const { return {step.label, step.locked, -1, false}; }
  bool has_simple_loads(int) const { return true; }
  std::optional<StaleStep> find_stale(int thread, std::span<const Access> offered, Monitor& monitor);

  bool is_bus_held() const { return false; }
  bool takes_bus(const Alternative&) const { return false; }
  bool frees_bus(const Alternative&) const { return false; }

  void borderline(const StaleStep& found) {
    catch_up();  // the thread's wish says where the load is
    findings_.borderline(steps_, found.label, found.reads);
  }
  void ended(const Ending& ending) { findings_.ended(steps_, ending); }

 private:
  bool is_companion(int thread) const { return !buffers_.empty() && thread >= world.known_threads(); }
  void offer_flushes(int thread, Offers& offers);
  // The thread's next step needs its buffer to be empty, or changes it.
  void record_buffer(int thread, Offers& offers) {
    if (buffers_.empty() || (world.fiber(thread).wish.kind == AccessKind::Load && world.is_ready(thread))) return;
    const Wish& wish = world.fiber(thread).wish;
    const auto me = static_cast<std::int16_t>(thread);
    const int buffer = buffers_[static_cast<std::size_t>(thread)];
    if (wish.kind == AccessKind::Store) offers.record({AccessKind::LockedStore, me, buffer, 0});
    offers.record({AccessKind::LockedLoad, me, buffer, 0});
  }
  void catch_up() {
    if (!is_behind_) return;
    world.reset();
    world.run(steps_.data(), steps_.size());
    is_behind_ = false;
  }

  Findings& findings_;
  int threads_;
  std::vector<int> steps_;
  std::vector<int> buffers_;  // of each thread, as an address; empty: there are none
  bool is_behind_ = false;
};

// Stores that reach memory next: any that no older one has to precede.
inline void ProgramExecutor::offer_flushes(int thread, Offers& offers) {
  const Fiber& fiber = world.fiber(thread - world.known_threads());
  const auto me = static_cast<std::int16_t>(thread);
  const int buffer = buffers_[static_cast<std::size_t>(fiber.id)];
  const std::size_t first = offers.recorded();
  if (fiber.buffer.empty()) {  // until the thread stores
    offers.record({AccessKind::LockedLoad, me, buffer, 0});
    return offers.block(first);
  }
  for (std::size_t entry = 0; entry < fiber.buffer.size(); ++entry) {
    if (!World::may_flush(fiber, entry)) continue;
    Alternative way;
    way.label = ~(fiber.id + kMostFibers * static_cast<int>(entry));
    way.accesses = offers.recorded();
    offers.record({AccessKind::LockedLoad, me, buffer, 0});
    offers.record({AccessKind::LockedStore, me, buffer, 0});
    offers.record({AccessKind::Store, me, fiber.buffer[entry].number, 0});
    offers.add(way, false);
  }
}

inline void ProgramExecutor::offer(int thread, Offers& offers) {
  if (is_companion(thread)) return offer_flushes(thread, offers);
  if (is_done(thread)) return;
  const Fiber& fiber = world.fiber(thread);
  const auto me = static_cast<std::int16_t>(thread);
  const std::size_t first = offers.recorded();
  if (fiber.state == Fiber::State::Unborn) {
    offers.record({AccessKind::LockedLoad, me, world.cells.synchronisation(&fiber, kBirth), 0});
    return offers.block(first);
  }
  const Wish& wish = fiber.wish;
  if (wish.spins) {  // whether it can go on depends on all that it looked at
    for (std::size_t i = wish.awaited; i < fiber.seen.size(); ++i)
      offers.record({AccessKind::Load, me, fiber.seen[i].number, 0});
    offers.block(first);
  }
  if (!world.is_ready(thread)) {
    if (wish.number >= 0 && !wish.spins) offers.record({AccessKind::LockedLoad, me, wish.number, 0});
    record_buffer(thread, offers);
    return offers.block(first);
  }
  Alternative way;
  way.label = thread;
  way.accesses = first;
  way.locked = wish.locked() && wish.what != Wish::What::Fence && wish.number >= 0;
  if (wish.what == Wish::What::Synchronise && wish.is_ready != nullptr && wish.number >= 0)
    offers.record({AccessKind::LockedLoad, me, wish.number, 0});
  for (const NumberedAccess& access : fiber.freed) offers.record({access.kind, me, access.number, 0});
  if (fiber.freed.empty() && (wish.number >= 0 || wish.what == Wish::What::Fence))
    offers.record({wish.kind, me, wish.number < 0 ? 0 : wish.number, 0});
  record_buffer(thread, offers);
  offers.add(way, true);
}

inline Executed ProgramExecutor::execute(const Alternative& step, Offers&) {
  if (findings_.has_endless_loop) return Executed::Stopped;
  steps_.push_back(step.label);
  if (is_behind_) {
    world.reset();
    world.run(steps_.data(), steps_.size());
    is_behind_ = false;
  } else {
    world.run(&steps_.back(), 1);
  }
  if (world.cells.learned) return Executed::Stopped;
  if (world.failure.kind != Finding::None) return Executed::Failed;
  return world.has_ended ? Executed::Ended : Executed::Done;
}

// The program goes on with any value: whether the load can miss a write is all there is to ask. What waits for memory to
// change has seen what it waits for: it asks for each of these.
inline std::optional<StaleStep> ProgramExecutor::find_stale(int thread, std::span<const Access> offered, Monitor& monitor) {
  for (std::size_t i = offered.size(); i-- > 0;) {
    if (offered[i].kind != AccessKind::Load) continue;
    StaleStep found{thread, {}, {}};
    append_events(offered.subspan(i, 1), {thread, false, -1, false}, threads(), found.events);
    const auto missed = monitor.check(found.events);
    if (!missed) continue;
    const auto address = static_cast<int>(found.events[missed->event].address);
    found.reads.push_back({address, missed->missed.count, static_cast<std::int64_t>(missed->missed.group)});
    return found;
  }
  return std::nullopt;
}

static_assert(Executor<ProgramExecutor> && Listener<ProgramExecutor>);

}  // namespace memfence::running
