// Is there an infinite run of the program that a generalised Büchi automaton accepts? Explored on the fly, one depth-first
// pass over the strongly connected components of the product (Couvreur 1999): each open component carries the union of the
// marks seen inside it, and the first that has all of them is a counterexample. Any number of acceptance conditions up to
// 64 costs nothing extra, so fairness is made of marks too (docs/adr/0005):
//   Recurring      the step leaves a state where an expression holds;
//   BufferDrains   the step commits from the buffer, or leaves a state where it is empty;
//   ProcessRuns    the step is one of the process, or leaves a state where it has none (weak fairness).
// Strong fairness is no such condition, since it asks for something only where something else comes again and again:
//   ProcessRunsOften   the step is one of the process; and another mark, that the process had one. A component in which a
//                      process could move and never does is searched again without the states where it could.
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

enum class ConditionKind : std::int32_t { Recurring, BufferDrains, ProcessRuns, ProcessRunsOften };

struct Condition {
  ConditionKind kind;
  int number;  // expression, or process
  int buffer;  // BufferDrains under PSO: which one
};

// The marks of a strongly fair process: on steps that it takes, and on all steps that leave a state where it has one.
struct StrongPair {
  std::uint64_t moved, could;
  bool is_met(std::uint64_t seen) const { return !(seen & could) || (seen & moved); }
};

struct BuchiQuery {
  int initial;
  std::vector<std::vector<BuchiEdge>> edges;
  int marks;
  std::vector<int> atoms;  // expressions
  std::vector<Condition> conditions;

  // What every accepted run sees again and again.
  std::uint64_t all_marks() const {
    const int count = marks + static_cast<int>(conditions.size());
    std::uint64_t all = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    for (const StrongPair& pair : strong_pairs()) all &= ~pair.moved;
    return all;
  }
  std::vector<StrongPair> strong_pairs() const {
    std::vector<StrongPair> pairs;
    std::size_t next = static_cast<std::size_t>(marks) + conditions.size();
    for (std::size_t i = 0; i < conditions.size(); ++i)
      if (conditions[i].kind == ConditionKind::ProcessRunsOften)
        pairs.push_back({std::uint64_t{1} << (static_cast<std::size_t>(marks) + i), std::uint64_t{1} << next++});
    return pairs;
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

// The search in depth comes first, on one thread; with more states than it may have, all states are found level by level by
// several threads (product_graph.hpp), and the answer is the same for any number of them.
struct Sharing {
  std::uint64_t alone_states = 0;  // most states of the search in depth; 0: there is none
  int threads = 1;
};

// `reduce`: leave private locations alone first. For automata that cannot tell how often a state is repeated, and without
// strong fairness.
BuchiResult find_accepted_run(const Machine& machine, const Model& model, bool reduce, const BuchiQuery& query,
                              const Sharing& sharing, const Limits& limits);

}  // namespace memfence
