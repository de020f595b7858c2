// Memory models for execution graphs: what an event learns, and whether a graph stays consistent.
//
// The same as the texts in models/cat, but step by step. Every event is added where nothing follows it by program order or
// reads-from. So what can go wrong is a cycle through it that leaves it by modification order (a write that is not the
// newest) or from-reads (a read of a write that is not the newest). An event without such a way out is consistent whenever
// the graph before it was: for it, nobody asks.
//
// Coherence is the explorer's part: it offers a read no write that the thread knows a newer one for, and a write no place
// before one that the thread knows. "Knows" is `kKnown`: under RC11 happens-before. Under SC and TSO it may be the whole
// causal past, since program order and reads-from between threads are part of what all threads agree upon. Atomicity of
// read-modify-writes is the explorer's, too.
//
// RC11 is that of models/cat/library/rc11.cat: release sequences of C++20 (read-modify-writes only), partial order of seq_cst
// accesses and fences, no cycle of program order and reads-from (which the explorer cannot build).
#pragma once

#include "graphs/execution_graph.hpp"

namespace memfence::graphs {

// Program order, reads-from, modification order and from-reads have no cycle.
struct Sc {
  static constexpr int kClocks = 1;
  static constexpr ClockKind kKnown = kCausal;
  static constexpr bool kHasRaces = false;
  void learn(ExecutionGraph& graph, EventId id) const;
  // Whether the event, added last in its thread, keeps the graph consistent.
  bool is_consistent(const ExecutionGraph& graph, EventId id);

 private:
  std::vector<int> first_;  // of each thread: from which event on everything is reached
  std::vector<EventId> open_;
};

// The same, but that a write may be delayed past reads of its thread: x86.
struct Tso {
  static constexpr int kClocks = 1;
  static constexpr ClockKind kKnown = kCausal;
  static constexpr bool kHasRaces = false;
  void learn(ExecutionGraph& graph, EventId id) const;
  bool is_consistent(const ExecutionGraph& graph, EventId id);

 private:
  std::vector<int> all_, writes_;  // of each thread: from which event on all events, or all writes, are reached
  std::vector<EventId> open_;
};

struct Rc11 {
  static constexpr int kClocks = memfence::graphs::kClocks;
  static constexpr ClockKind kKnown = kHappens;
  static constexpr bool kHasRaces = true;
  void learn(ExecutionGraph& graph, EventId id) const;
  bool is_consistent(const ExecutionGraph& graph, EventId id);
};

}  // namespace memfence::graphs
