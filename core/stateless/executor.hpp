// Between the explorer and what executes steps: the machine of a model (model_executor.hpp), or a program that runs
// (rerun.hpp).
//
// An executor is in one state, that after the steps executed since `reset`. The explorer asks what each thread could do
// next, has one step executed, and goes back to an earlier state of the same execution to try another one. Going back is
// by undoing, or by resetting and executing the first steps again: the explorer asks for nothing in between, so that an
// executor may put it off until the next step.
#pragma once

#include <concepts>
#include <optional>

#include "execution/monitor.hpp"
#include "execution/step_events.hpp"
#include "stateless/offers.hpp"
#include "stateless/stateless.hpp"

namespace memfence {

// Ended: the step ends the whole execution, as a failure does, but is none. Stopped: the executor wants to begin anew.
// Redundant: whatever follows is met without this step as well, so that nothing behind it is tried. Idle: likewise, as long
// as nobody writes what the thread has read since.
enum class Executed : std::uint8_t { Done, Failed, Ended, Stopped, Redundant, Idle };

// How a thread could go on with stale values: under TSO, but in no SC execution. `events`: that step, for the monitor.
struct StaleStep {
  int label = -1;
  std::vector<StaleRead> reads;
  std::vector<MemoryEvent> events;
};

template <class E>
concept Executor = requires(E e, const E c, int thread, int address, std::size_t n, Offers& offers, const Alternative& step,
                            std::span<const Access> offered, Monitor& monitor) {
  { c.threads() } -> std::same_as<int>;                  // as many as there ever are
  { c.addresses() } -> std::same_as<int>;                // that have been seen so far
  { c.starts() } -> std::same_as<std::size_t>;           // initial states
  e.reset(n);                                            // be in the n-th
  { c.initial(address) } -> std::same_as<std::int64_t>;  // what it holds there

  // What the thread could do next, blocked ways included, written into `offers`. A thread that has no way on now is done,
  // or it waits.
  e.offer(thread, offers);
  { c.is_done(thread) } -> std::same_as<bool>;
  // Whether the steps of a thread depend on the others through memory only. If not, nothing is reduced or inherited.
  { c.meets_in_memory_only() } -> std::same_as<bool>;

  { e.execute(step, offers) } -> std::same_as<Executed>;  // it may complete the values of the step's accesses
  { c.mark() } -> std::same_as<std::size_t>;              // the present state, for go_back
  e.go_back(n);                                           // to an earlier one of this execution
  // What the executor remembers for itself about alternatives, as an array that shrinks with the frames.
  { c.notes() } -> std::same_as<std::size_t>;
  e.drop_notes(n);

  // For the monitor. `has_simple_loads`: the thread's next step is one load at most, and no store but a locked one to the
  // same address; then the clocks alone decide whether the load can be stale.
  { c.make_monitor() } -> std::same_as<Monitor>;
  { c.shape(step) } -> std::same_as<StepShape>;
  { c.has_simple_loads(thread) } -> std::same_as<bool>;
  { e.find_stale(thread, offered, monitor) } -> std::same_as<std::optional<StaleStep>>;  // given what it could do next

  // Regions in which one thread holds the bus: what it does there is one step for the monitor, when it lets go.
  { c.is_bus_held() } -> std::same_as<bool>;
  { c.takes_bus(step) } -> std::same_as<bool>;
  { c.frees_bus(step) } -> std::same_as<bool>;
};

// An executor may listen: to every load that could have been stale, and to every execution that was run to its end.
struct Ending {
  bool failed = false, truncated = false, waits = false, borderline = false;
};
template <class E>
concept Listener = requires(E e, const StaleStep& stale, const Ending& ending) {
  e.borderline(stale);
  e.ended(ending);
};

}  // namespace memfence
