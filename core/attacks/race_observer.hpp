// Looks for processes about to do things that race, in every SC-reachable state: data races and triangular ones.
#pragma once

#include "attacks/atomic_event.hpp"
#include "attacks/criteria.hpp"
#include "models/sc.hpp"
#include "search/observer.hpp"

namespace memfence {

template <bool triangular>
class RaceObserver : public NoObserver {
 public:
  using Semantics = std::conditional_t<triangular, ScLastStore, Sc>;
  RaceObserver(const Machine& m, std::shared_ptr<Budget> budget)
      : machine_(&m), budget_(std::move(budget)), semantics_(m), events_(m, budget_) {}

  void expand(Work& w, Index index);
  bool has_finding() const { return race_.has_value() || budget_->why() != Stop::None; }
  void merge(RaceObserver& other, const StateOrder& states) {
    if (other.race_ && (!race_ || states.is_less(other.race_->state, race_->state))) race_ = other.race_;
  }
  const std::optional<Race>& race() const { return race_; }

 private:
  struct Next {
    int process, edge;
    Access access;
    int unfenced = -1;          // TRF: a store that another access of the variable could come before
    bool writes_only = false;  // TRF: only a write completes the race
  };
  // From the access `first` on, behind an unfenced store to the variable `last`, if there is one.
  void note_exposed(int last, std::size_t first);
  const Machine* machine_;
  std::shared_ptr<Budget> budget_;
  Semantics semantics_;
  std::optional<Race> race_;
  std::vector<Next> next_;
  AtomicEvents events_;
};

}  // namespace memfence
