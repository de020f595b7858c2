// Persistence, robustness, and races, decided while SC states go by: observers of an SC exploration (DESIGN 7).
#pragma once

#include <memory>

#include "memfence/attack.hpp"
#include "memfence/chain.hpp"
#include "memfence/exploration.hpp"

namespace memfence {

// An attack that succeeds: from the SC-reachable `state`, the attacker walks to its end event; for persistence `closing`
// is the edge of another process that writes the variable read, for robustness `helpers` close the chain.
struct Attack {
  Index state;
  int attacker;
  EndEvent end;
  int closing = -1;
  std::vector<HelperStep> helpers;
};

class AttackObserver : public NoObserver {
 public:
  // With `collect`, the whole space is searched and `attacks()` has one attack for each distinct clause (attacker,
  // transitions crossed, kind of end event); else the first attack ends the search.
  AttackObserver(const Machine& m, Criterion criterion, bool collect);
  AttackObserver(const AttackObserver& other) : AttackObserver(*other.machine_, other.criterion_, other.collect_) {}
  AttackObserver(AttackObserver&&) = default;
  AttackObserver& operator=(AttackObserver&&) = default;

  void expand(Work& w, Index index);
  bool has_finding() const { return !collect_ && !attacks_.empty(); }
  void merge(AttackObserver& other, const StateSet& states);
  // After the search: what was found, smallest clause first.
  std::vector<Attack> attacks();
  std::uint64_t chain_nodes() const { return chain_ ? chain_->nodes() : 0; }

 private:
  // (attacker, end is a store, crossed): what a set of fences must hit.
  using Clause = std::tuple<int, bool, std::vector<int>>;

  void expand_persistence(Work& w, Index index);
  void expand_robustness(Work& w, Index index);
  void note_writers(Work& w);
  int closing_edge(Work& w, int attacker, int variable);
  void add(Attack attack);

  const Machine* machine_;
  Criterion criterion_;
  bool collect_;
  std::unique_ptr<AttackWalk> walk_;
  std::unique_ptr<ChainSearch> chain_;
  Sc sc_;
  std::map<Clause, Attack> attacks_;
  std::map<std::pair<Index, Clause>, Attack> rooted_;  // collect: waiting for the verdict on their root node
  std::map<Index, Attack> first_of_root_;
  std::vector<std::uint64_t> writers_;       // per variable: processes that can change it now
  std::vector<std::vector<std::uint64_t>> reads_after_store_;  // [process][location]: variables modulo 64
  std::vector<Access> accesses_;
};

// Two processes about to do things that race: TRF and DRF.
struct Race {
  Index state;
  int process, edge;              // TRF: the reader whose store is unfenced; DRF: one side, which writes plainly
  int other_process, other_edge;  // TRF: the writer; DRF: the other side
  int variable;
  int unfenced = -1;  // TRF: the variable of the unfenced store
};

template <bool triangular>
class RaceObserver : public NoObserver {
 public:
  using Semantics = std::conditional_t<triangular, ScLastStore, Sc>;
  explicit RaceObserver(const Machine& m) : machine_(&m), semantics_(m) {}

  void expand(Work& w, Index index);
  bool has_finding() const { return race_.has_value(); }
  void merge(RaceObserver& other, const StateSet& states) {
    if (other.race_ && (!race_ || std::memcmp(states.state(other.race_->state), states.state(race_->state),
                                              states.words() * sizeof(Word)) < 0))
      race_ = other.race_;
  }
  const std::optional<Race>& race() const { return race_; }

 private:
  struct Next {
    int process, edge;
    Access access;
  };
  const Machine* machine_;
  Semantics semantics_;
  std::optional<Race> race_;
  std::vector<Next> next_;
  std::vector<Access> accesses_;
};

struct CriterionResult {
  std::unique_ptr<Exploration> exploration;
  std::vector<Attack> attacks;
  std::optional<Race> race;
  std::uint64_t chain_nodes = 0;
};

CriterionResult explore_attacks(std::shared_ptr<const Machine> machine, Criterion criterion, bool collect,
                                const Limits& limits, int threads);
CriterionResult explore_races(std::shared_ptr<const Machine> machine, bool triangular, const Limits& limits, int threads);

}  // namespace memfence
