// State-robustness, exactly as defined: every state with empty buffers that the relaxed model reaches is reached under SC.
//
// First all SC states, then the states of TSO(k) or PSO(k), with an observer that looks up the drained ones. No reductions:
// registers and locations are part of a state, and every one of them counts.
#pragma once

#include <optional>

#include "search/exploration.hpp"

namespace memfence {

// Every SC-reachable state, for look-up. The machine must say where processes go that fail (Machine::failed).
class ScStates {
 public:
  ScStates(std::shared_ptr<const Machine> machine, const Limits& limits, int threads);

  // Whether SC reaches a state with these values of the machine's own slots.
  bool contains(const Value* slots, std::vector<Word>& scratch) const;

  Stop stop() const { return search_->stop; }
  const SearchStats& stats() const { return search_->stats; }

 private:
  Layout layout_;
  std::unique_ptr<ExplorationOf<Sc, NoObserver>> search_;
};

// Finds a drained state that SC does not reach; among those of one level, the one with the smallest packed words.
template <MemoryModel Semantics>
class StrayObserver : public NoObserver {
 public:
  StrayObserver(const Machine& m, const Semantics& semantics, const ScStates& sc)
      : machine_(&m), semantics_(&semantics), sc_(&sc) {}

  void expand(Work& w, Index index) {
    if (stray_) return;
    for (int p = 0; p < static_cast<int>(machine_->processes.size()); ++p)
      if (!semantics_->drained(w, p)) return;
    if (!sc_->contains(w.data(), scratch_)) stray_ = index;
  }
  bool has_finding() const { return stray_.has_value(); }
  void merge(StrayObserver& other, const StateSet& states) {
    if (other.stray_ &&
        (!stray_ || std::memcmp(states.state(*other.stray_), states.state(*stray_), states.words() * sizeof(Word)) < 0))
      stray_ = other.stray_;
  }
  const std::optional<Index>& stray() const { return stray_; }

 private:
  const Machine* machine_;
  const Semantics* semantics_;
  const ScStates* sc_;
  std::vector<Word> scratch_;
  std::optional<Index> stray_;
};

struct StrayResult {
  std::unique_ptr<Exploration> exploration;
  std::optional<Index> stray;
};

StrayResult explore_stray_states(std::shared_ptr<const Machine> machine, const Model& model, const ScStates& sc,
                                 const Limits& limits, int threads);

}  // namespace memfence
