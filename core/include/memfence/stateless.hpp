// Stateless exploration of SC executions, with the store-buffer monitor running along.
//
// One execution at a time, depth first; going back undoes the last step (work state, clocks, monitor), so that a common
// prefix is run, and monitored, once.
//
// Reduction: source-set DPOR with sleep sets (Abdulla, Aronis, Jonsson, Sagonas 2014). What it needs here beyond the paper:
//  * A process whose guards read memory may be blocked, and be let go by another's write. A step therefore counts as reading
//    what its process's *blocked* edges read, too; and whenever a step leaves a process blocked, the step it cannot take is
//    checked for races like one that is taken.
//  * A process may have several enabled edges: choosing the process explores all of them.
//  * A step that fails ends the execution, so it depends on everything: all others are tried before it as well.
// Steps without memory access are taken at once, before any choice is made: nothing depends on them.
//
// With a bound on preemptions the reduction is off: a reduced set of executions need not hold, for each class, the one
// with the fewest preemptions. Programs whose processes look at each other other than through memory (rendezvous,
// committed locations, remote registers, lock regions with cycles) are explored without reduction, too.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "stateless/footprint.hpp"
#include "search/limits.hpp"

namespace memfence {

struct ExploreOptions {
  bool monitor = true;
  bool reduce = true;
  int preemptions = -1;     // at most so many; -1: no bound
  std::uint64_t depth = 0;  // at most so many steps; 0: no bound
  bool stop_at_first = false;
  std::uint64_t keep = 0;  // how many executions to keep
};

// A load that could have seen fewer writes than there were, and the value it would have got.
struct StaleRead {
  int variable;
  std::uint64_t seen;
  Value value;
};

struct Schedule {
  std::uint64_t start = 0;  // number of the initial state
  std::vector<int> edges;
  bool borderline = false, failed = false, truncated = false;
};

// After `schedule`, the edge is possible under TSO with these reads, and no SC execution has the same trace.
struct BorderlineFinding {
  Schedule schedule;
  int edge = -1;
  std::vector<StaleRead> reads;
};

struct ExploreResult {
  Stop stop = Stop::None;
  bool reduced = false;  // whether DPOR was used
  std::uint64_t executions = 0, borderline = 0, failed = 0, deadlocked = 0, redundant = 0, truncated = 0, cut = 0, steps = 0;
  double seconds = 0, first_borderline_seconds = -1, first_failure_seconds = -1;
  std::optional<BorderlineFinding> finding;
  std::optional<Schedule> failure;
  std::vector<Schedule> kept;
};

// One step of a schedule as events of a trace. `waits`: loads the process could have made in its place.
struct TraceStep {
  int edge = -1;  // -1: nobody moves, a process is blocked
  std::vector<MemoryEvent> events;
};

ExploreResult explore_stateless(std::shared_ptr<const Machine> machine, const ExploreOptions& options, const Limits& limits);

// The events of the schedule, such that a monitor of the trace gives the answer of the explorer.
std::vector<TraceStep> schedule_events(std::shared_ptr<const Machine> machine, const Schedule& schedule);

}  // namespace memfence
