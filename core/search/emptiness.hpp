// Is there an infinite run of the program that a generalised Büchi automaton accepts? Explored on the fly, one depth-first
// pass over the strongly connected components of the product (Couvreur 1999): each open component carries the union of the
// marks seen inside it, and the first that has all of them is a counterexample. Any number of acceptance conditions up to
// 64 costs nothing extra, so fairness is made of marks too (docs/adr/0005):
//   Recurring      the step leaves a state where an expression holds;
//   BufferDrains   the step commits from the buffer, or leaves a state where it is empty;
//   ProcessRuns    the step is one of the process, or leaves a state where it has none (weak fairness).
// The automaton reads the state that a step leaves. Where the program can do nothing it stands still for ever.
//
// A depth-first search finds deep lassos. Once there is one, the search is repeated among the states nearest to the start,
// twice as many each time, until they contain one, too: a short run is worth the time to whoever reads it.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.hpp"
#include "models/model.hpp"
#include "search/limits.hpp"
#include "search/outcome.hpp"

namespace memfence {

struct BuchiEdge {
  int target;
  std::uint64_t positive, negative;  // over atoms
  std::uint64_t marks;
};

enum class ConditionKind : std::int32_t { Recurring, BufferDrains, ProcessRuns };

struct Condition {
  ConditionKind kind;
  int number;  // expression, or process
  int buffer;  // BufferDrains under PSO: which one
};

struct BuchiQuery {
  int initial;
  std::vector<std::vector<BuchiEdge>> edges;
  int marks;
  std::vector<int> atoms;  // expressions
  std::vector<Condition> conditions;

  std::uint64_t all_marks() const {
    const int count = marks + static_cast<int>(conditions.size());
    return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
};

// One step of a lasso; `stutters` where the program stands still.
struct LassoStep {
  bool stutters;
  Step step;
};

struct BuchiResult {
  Stop stop = Stop::None;  // Found: there is such a run
  SearchStats stats;
  std::size_t start = 0;
  std::vector<LassoStep> prefix, cycle;
};

BuchiResult find_accepted_run(const Machine& machine, const Model& model, const BuchiQuery& query, const Limits& limits);

}  // namespace memfence
