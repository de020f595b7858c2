// Stateless exploration of SC executions, with the store-buffer monitor running along: what callers see.
//
// One execution at a time, depth first; going back undoes the last step, so that a common prefix is run, and monitored,
// once. The parts: an executor takes steps (executor.hpp), offers say what each thread could do next (offers.hpp), dpor.hpp
// decides which choices have to be tried, lazy_monitor.hpp asks whether a step could have read a stale value, and
// explorer.hpp puts them together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "execution/memory_event.hpp"
#include "machine/machine.hpp"
#include "search/limits.hpp"

namespace memfence {

struct ExploreOptions {
  bool monitor = true;
  bool reduce = true;
  int preemptions = -1;     // at most so many; -1: no bound
  std::uint64_t depth = 0;  // at most so many steps; 0: no bound
  bool stop_at_first = false;
  std::uint64_t keep = 0;  // how many executions to keep
  int parts = 1, part = 0;  // explore only this part of the tree, of so many
};

// A load that could have seen fewer writes than there were, and the value it would have got.
struct StaleRead {
  int variable;
  std::uint64_t seen;
  std::int64_t value;
};

struct Schedule {
  std::uint64_t start = 0;  // number of the initial state
  std::vector<int> edges;   // of a machine; of another executor, its labels
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
  std::optional<Schedule> failure, stuck;
  std::vector<Schedule> kept;
};

// One step of a schedule as events of a trace.
struct TraceStep {
  int edge = -1;  // -1: nobody moves; the events, a `Wait` first, are what a thread could have done with a stale value
  std::vector<MemoryEvent> events;
};

ExploreResult explore_stateless(const Machine& machine, const ExploreOptions& options, const Limits& limits);

// The events of the schedule, such that a monitor of the trace gives the answer of the explorer.
std::vector<TraceStep> schedule_events(const Machine& machine, const Schedule& schedule);

}  // namespace memfence
