#include "attacks/criteria.hpp"

#include "attacks/attack_observer.hpp"
#include "attacks/race_observer.hpp"
#include "search/explored.hpp"

namespace memfence {

CriterionResult explore_attacks(std::shared_ptr<const Machine> machine, Criterion criterion, bool collect, bool every_torn,
                                const Limits& limits, int threads) {
  const Machine& m = *machine;
  const auto budget = std::make_shared<Budget>(limits);
  auto exploration = std::make_unique<ExplorationOf<Sc, AttackObserver>>(
      std::move(machine), Sc(m), false, AttackObserver(m, criterion, collect, every_torn, budget), limits, threads);
  CriterionResult result;
  AttackObserver& observer = exploration->search.observer();
  result.chain_nodes = observer.chain_nodes();
  const bool is_cut_short = budget->why() != Stop::None && (collect || observer.attacks().empty());
  if (is_cut_short) exploration->stop = budget->why();
  if (observer.is_done()) exploration->stop = Stop::None;
  const bool complete = exploration->stop == Stop::None;
  if (!collect || complete) result.attacks = observer.attacks();
  result.exploration = std::move(exploration);
  return result;
}

namespace {

template <bool triangular>
CriterionResult races(std::shared_ptr<const Machine> machine, const Limits& limits, int threads) {
  using Observer = RaceObserver<triangular>;
  const Machine& m = *machine;
  auto exploration = std::make_unique<ExplorationOf<typename Observer::Semantics, Observer>>(
      std::move(machine), typename Observer::Semantics(m), false, Observer(m), limits, threads);
  CriterionResult result;
  result.race = exploration->search.observer().race();
  result.exploration = std::move(exploration);
  return result;
}

}  // namespace

CriterionResult explore_races(std::shared_ptr<const Machine> machine, bool triangular, const Limits& limits, int threads) {
  return triangular ? races<true>(std::move(machine), limits, threads) : races<false>(std::move(machine), limits, threads);
}

}  // namespace memfence
