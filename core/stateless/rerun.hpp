// A program that runs, as an executor. What it did cannot be undone: going back is starting again and repeating the first
// steps, once the next step is asked for.
//
// The program runs a thread up to its next access and stops before it, so that `next` is known; `execute` makes that access
// and runs on. Each thread has one way on. A thread that spins is best shown as blocked, with `next` the load it repeats.
#pragma once

#include "stateless/executor.hpp"

namespace memfence {

enum class ThreadState : std::uint8_t { Enabled, Blocked, Done };

template <class P>
concept Runnable = requires(P p, const P c, int thread, int address) {
  { c.threads() } -> std::same_as<int>;                  // as many as there ever are
  { c.addresses() } -> std::same_as<int>;                // that have been seen so far
  { c.initial(address) } -> std::same_as<std::int64_t>;  // what it held after `reset`
  p.reset();
  { c.state(thread) } -> std::same_as<ThreadState>;
  { c.next(thread) } -> std::same_as<Access>;            // of a thread that is not done; blocked: what it waits for
  { p.execute(thread) } -> std::same_as<Executed>;
  { c.value() } -> std::same_as<std::int64_t>;           // that the last access read or wrote
};

template <Runnable P>
class Rerun {
 public:
  template <class... Arguments>
  explicit Rerun(Arguments&&... arguments) : program_(std::forward<Arguments>(arguments)...) {}

  int threads() const { return program_.threads(); }
  int addresses() const { return program_.addresses(); }
  std::int64_t initial(int address) const { return program_.initial(address); }
  std::size_t starts() const { return 1; }
  void reset(std::size_t) {
    program_.reset();
    steps_.clear();
    is_behind_ = false;
  }

  void offer(int thread, Offers& offers) {
    if (is_done(thread)) return;
    const std::size_t first = offers.recorded();
    const Access next = program_.next(thread);
    offers.record(next);
    if (program_.state(thread) == ThreadState::Blocked) return offers.block(first);
    Alternative way;
    way.label = thread;
    way.locked = next.kind == AccessKind::LockedLoad || next.kind == AccessKind::LockedStore;
    way.accesses = first;
    offers.add(way, true);
  }
  bool is_done(int thread) const { return program_.state(thread) == ThreadState::Done; }
  bool meets_in_memory_only() const { return true; }

  std::size_t mark() const { return steps_.size(); }
  void go_back(std::size_t steps) {
    is_behind_ |= steps != steps_.size();
    steps_.resize(steps);
  }
  Executed execute(const Alternative& step, Offers& offers) {
    if (is_behind_) repeat();
    steps_.push_back(step.label);
    const Executed outcome = program_.execute(step.label);
    offers.set_value(step.accesses, program_.value());
    return outcome;
  }
  std::size_t notes() const { return 0; }
  void drop_notes(std::size_t) {}

  Monitor make_monitor() const {
    Monitor monitor(true);
    monitor.ensure_threads(static_cast<std::uint32_t>(threads()));
    return monitor;
  }
  StepShape shape(const Alternative& step) const { return {step.label, step.locked, -1, false}; }
  bool has_simple_loads(int) const { return true; }
  // The program goes on with any value: whether the load can miss a write is all there is to ask.
  std::optional<StaleStep> find_stale(int thread, std::span<const Access> offered, Monitor& monitor) {
    StaleStep found{thread, {}, {}};
    const bool locked = !offered.empty() && offered.back().is_locked();
    append_events(offered, {thread, locked, -1, false}, threads(), found.events);
    const auto borderline = monitor.check(found.events);
    if (!borderline) return std::nullopt;
    const std::uint32_t address = found.events[borderline->event].address;
    std::uint64_t seen = 0;
    while (monitor.history(address)[seen].count != borderline->missed.count ||
           monitor.history(address)[seen].group != borderline->missed.group)
      ++seen;
    found.reads.push_back({static_cast<int>(address), seen, borderline->missed.before});
    return found;
  }

  bool is_bus_held() const { return false; }
  bool takes_bus(const Alternative&) const { return false; }
  bool frees_bus(const Alternative&) const { return false; }

 private:
  void repeat() {
    program_.reset();
    for (const int thread : steps_) program_.execute(thread);
    is_behind_ = false;
  }

  P program_;
  std::vector<int> steps_;  // who moved since the start
  bool is_behind_ = false;  // the program is elsewhere: it has to start again
};

}  // namespace memfence
