// The symbolic engine: depth-first search over sets of buffer contents, with acceleration of cycles.
//
// Both Linden-Wolper papers, for buffers without bound. If the search ends by itself, every reachable control state was
// seen and no other: languages only ever hold contents that are reachable, or imitated by reachable ones (languages,
// cycles). It need not end; then a limit stops it and nothing is claimed.
#pragma once

#include <memory>
#include <set>

#include "search/exploration.hpp"
#include "symbolic/steps.hpp"

namespace memfence {

struct SymbolicStats {
  std::uint64_t states = 0;       // symbolic states that were expanded
  std::uint64_t stored = 0;       // of these, not included in another at the end
  std::uint64_t transitions = 0;
  std::uint64_t automata = 0;
  std::uint64_t largest_automaton = 0;
  std::uint64_t accelerations = 0;
  std::uint64_t depth = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

struct SymbolicOutcome {
  Stop stop = Stop::None;
  SymbolicStats stats;
  std::optional<FindingKind> finding;
  // Control parts: values of all slots, those of pending stores 0.
  std::vector<std::vector<Value>> controls;  // every one that is reachable
  std::vector<std::vector<Value>> plain;     // those that are reachable with all buffers empty
  std::set<std::vector<Value>> final_values;
  // Where they are asked for: the states at the end, each a control part and one language per process, and what these are.
  std::vector<std::vector<Value>> rows;
  std::vector<Dfa> languages;
  std::vector<Languages::Entry> symbols;  // the first one is the separator
};

SymbolicOutcome explore_symbolic(const Machine& machine, StoreOrder order, bool reduce, const SafetyQuery& query,
                                 const Limits& limits, bool keeps_rows = false);

}  // namespace memfence
