// The running program as an executor of the core's explorer.
//
// What the program did cannot be undone: going back is resetting and repeating the first steps, put off until the next step
// is asked for. The steps are then handed to the fibers as a list, in one go.
//
// With simulated store buffers, threads behind those of the program are companions, which move stores to memory
// (store_buffers.hpp).
#pragma once

#include <optional>

#include "findings.hpp"
#include "stateless/explorer.hpp"
#include "store_buffers.hpp"

namespace memfence::running {

class ProgramExecutor {
 public:
  explicit ProgramExecutor(Findings& findings) : findings_(findings), threads_(world.known_threads()) {
    if (!world.simulates) return;
    buffers_.emplace();
    threads_ += buffers_->companions();
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
    return world.is_over() || buffers_->is_empty(queue_of(thread));
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
  StepShape shape(const Alternative& step) const {
    return {step.label < 0 ? step.label : step.label % kMostFibers, step.locked, -1, false};
  }
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
  bool is_companion(int thread) const { return buffers_ && thread >= threads_ - buffers_->companions(); }
  int queue_of(int companion) const { return companion - (threads_ - buffers_->companions()); }
  void offer_step(const Fiber& fiber, int choice, Offers& offers);
  void record_wait(const Wish& wish, std::int16_t me, Offers& offers);
  void record_step(const Fiber& fiber, Offers& offers);
  void catch_up() {
    if (!is_behind_) return;
    world.reset();
    world.run(steps_.data(), steps_.size());
    is_behind_ = false;
  }

  Findings& findings_;
  int threads_;
  std::vector<int> steps_;
  std::optional<StoreBuffers> buffers_;
  bool is_behind_ = false;
};

inline void ProgramExecutor::offer(int thread, Offers& offers) {
  if (is_companion(thread)) {
    if (!world.is_over()) buffers_->offer(queue_of(thread), static_cast<std::int16_t>(thread), offers);
    return;
  }
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
      if (fiber.seen[i].number >= 0) offers.record({AccessKind::Load, me, fiber.seen[i].number, 0});
    offers.block(first);
  }
  const bool is_ready = world.is_ready(thread);
  if (is_ready) offer_step(fiber, 0, offers);
  for (int choice = 1; choice <= wish.whims; ++choice)
    if (world.may_choose(thread, choice)) offer_step(fiber, choice, offers);
  const std::size_t blocked = offers.recorded();
  if (!is_ready || wish.whim == Whim::WakeUp) record_wait(wish, me, offers);
  if (!is_ready && buffers_ && wish.kind != AccessKind::Store) buffers_->record_need(fiber, offers);
  offers.block(blocked);
}

// What decides whether the thread can go on.
inline void ProgramExecutor::record_wait(const Wish& wish, std::int16_t me, Offers& offers) {
  if (wish.number >= 0 && (!wish.spins || wish.whim == Whim::WakeUp))
    offers.record({AccessKind::LockedLoad, me, wish.number, 0});
  if (wish.whim == Whim::WakeUp && wish.mutex_number >= 0) offers.record({AccessKind::LockedLoad, me, wish.mutex_number, 0});
}

// A step of the thread: the one that it is for, or what its environment does.
inline void ProgramExecutor::offer_step(const Fiber& fiber, int choice, Offers& offers) {
  const Wish& wish = fiber.wish;
  const auto me = static_cast<std::int16_t>(fiber.id);
  Alternative way;
  way.label = fiber.id + choice * kMostFibers;
  way.optional = choice != 0;
  way.accesses = offers.recorded();
  way.locked = wish.locked() && wish.what != Wish::What::Fence && wish.number >= 0;
  const bool asks = wish.what == Wish::What::Synchronise || wish.what == Wish::What::End;
  const bool reads = (asks && wish.is_ready != nullptr) || wish.whim != Whim::None;
  if (reads && wish.number >= 0) offers.record({AccessKind::LockedLoad, me, wish.number, 0});
  for (const NumberedAccess& access : fiber.freed) offers.record({access.kind, me, access.number, 0});
  if (fiber.freed.empty()) record_step(fiber, offers);
  if (choice != 0 && wish.mutex_number >= 0) offers.record({AccessKind::LockedStore, me, wish.mutex_number, 0});
  if (buffers_ && wish.locked()) buffers_->record_need(fiber, offers);
  offers.add(way, true);
}

inline void ProgramExecutor::record_step(const Fiber& fiber, Offers& offers) {
  const Wish& wish = fiber.wish;
  if (wish.number < 0 && wish.what != Wish::What::Fence) return;
  if (buffers_ && wish.kind == AccessKind::Store) return buffers_->record_store(fiber, offers);
  offers.record({wish.kind, static_cast<std::int16_t>(fiber.id), wish.number < 0 ? 0 : wish.number, 0});
}

inline Executed ProgramExecutor::execute(const Alternative& step, Offers&) {
  if (findings_.has_endless_loop || (buffers_ && !findings_.all.empty())) return Executed::Stopped;  // one is enough
  if (step.label < 0) catch_up();  // where the store is in its buffer now
  steps_.push_back(step.label < 0 ? buffers_->flush_step(~step.label) : step.label);
  if (is_behind_) {
    world.reset();
    world.run(steps_.data(), steps_.size());
    is_behind_ = false;
  } else {
    world.run(&steps_.back(), 1);
  }
  if (world.cells.learned) return Executed::Stopped;
  if (world.leads_back != Return::None) return world.leads_back == Return::Always ? Executed::Redundant : Executed::Idle;
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
