// Persistence, robustness, and races, decided while SC states go by: observers of an SC exploration.
// docs/theory/criteria.md says why SC states are enough.
#pragma once

#include "attacks/end_event.hpp"
#include "search/exploration.hpp"

namespace memfence {

// An attack that succeeds: from the SC-reachable `state`, the attacker walks to its end event; then `helpers` take their
// steps: for persistence one that writes the variable read, for robustness those that close the chain.
struct Attack {
  // Steps of the others that come before the attacker goes on: after the first `walked` edges of its walk.
  struct Interval {
    int walked;
    std::vector<HelperStep> steps;
  };
  Index state;
  int attacker;
  EndEvent end;
  std::vector<HelperStep> helpers = {};
  bool is_helper_first = false;  // the helper's store is made before the walk, and commits after it
  std::vector<Interval> intervals = {};
};

// Two processes about to do things that race: TRF and DRF.
struct Race {
  Index state;
  int process, edge;              // TRF: the one whose store is unfenced; DRF: one side, which writes
  int other_process, other_edge;  // TRF: the writer; DRF: the other side
  int variable;
  int unfenced = -1;  // TRF: the variable of the unfenced store
};

struct CriterionResult {
  std::unique_ptr<Exploration> exploration;
  std::vector<Attack> attacks;
  std::optional<Race> race;
  std::uint64_t chain_nodes = 0;
  std::vector<int> open;  // processes of which the text does not show that every attack is known
  bool by_text = false;   // the text ended the search: `open` is empty, and not every state was visited
};

// With `moving`, only these processes ever move, the others stay where they begin: fewer runs, each of them a run of the
// whole program. With `by_text`, the search ends where the text shows that nothing is left to be found (open_walks.hpp).
struct AttackSearch {
  Criterion criterion;
  bool collect;
  bool every_torn;
  std::vector<KnownClause> known;
  std::vector<int> moving;
  bool by_text = true;
  std::vector<bool> changing = {};  // variables that some process can change, whether it may move or not: known_values.hpp
  std::vector<int> alike =
      {};  // per process: the first of those that it can be exchanged with, moving or not; empty: nobody can
};

CriterionResult explore_attacks(std::shared_ptr<const Machine> machine, AttackSearch search, const Limits& limits, int threads);
CriterionResult explore_races(std::shared_ptr<const Machine> machine, bool triangular, const Limits& limits, int threads);

}  // namespace memfence
