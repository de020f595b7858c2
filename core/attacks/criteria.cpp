#include "attacks/criteria.hpp"

#include <algorithm>
#include <numeric>

#include "attacks/attack_observer.hpp"
#include "attacks/known_values.hpp"
#include "attacks/race_observer.hpp"
#include "search/explored.hpp"

namespace memfence {

namespace {

std::shared_ptr<const Machine> only(std::shared_ptr<const Machine> machine, const std::vector<int>& moving) {
  if (moving.empty()) return machine;
  auto few = std::make_shared<Machine>(*machine);
  for (int p = 0; p < static_cast<int>(few->processes.size()); ++p) {
    if (std::find(moving.begin(), moving.end(), p) != moving.end()) continue;
    few->processes[static_cast<std::size_t>(p)].edges.clear();
    for (auto& edges : few->leaving[static_cast<std::size_t>(p)]) edges.clear();
  }
  const auto stays = [&](int p) { return std::find(moving.begin(), moving.end(), p) == moving.end(); };
  for (auto& members : few->symmetric) std::erase_if(members, stays);
  std::erase_if(few->symmetric, [](const auto& members) { return members.size() < 2; });
  return few;
}

std::vector<int> first_alike(const Machine& m) {
  std::vector<int> first(m.processes.size());
  std::iota(first.begin(), first.end(), 0);
  for (const auto& members : m.symmetric)
    for (const int p : members) first[static_cast<std::size_t>(p)] = members.front();
  return first;
}

}  // namespace

CriterionResult explore_attacks(std::shared_ptr<const Machine> machine, AttackSearch search, const Limits& limits,
                                int threads) {
  search.changing = changing_variables(*machine);
  search.alike = first_alike(*machine);
  machine = only(std::move(machine), search.moving);
  const Machine& m = *machine;
  const auto budget = std::make_shared<Budget>(limits);
  auto exploration = std::make_unique<ExplorationOf<Sc, AttackObserver>>(std::move(machine), Sc(m), false,
                                                                         AttackObserver(m, search, budget), limits, threads);
  CriterionResult result;
  AttackObserver& observer = exploration->observer();
  result.chain_nodes = observer.chain_nodes();
  const bool is_cut_short = budget->why() != Stop::None && (search.collect || observer.attacks().empty());
  if (is_cut_short) exploration->stop = budget->why();
  result.by_text = observer.is_done();
  if (result.by_text) exploration->stop = Stop::None;
  result.attacks = observer.attacks();
  result.open = observer.open();
  result.exploration = std::move(exploration);
  return result;
}

namespace {

template <bool triangular>
CriterionResult races(std::shared_ptr<const Machine> machine, const Limits& limits, int threads) {
  using Observer = RaceObserver<triangular>;
  const Machine& m = *machine;
  const auto budget = std::make_shared<Budget>(limits);
  auto exploration = std::make_unique<ExplorationOf<typename Observer::Semantics, Observer>>(
      std::move(machine), typename Observer::Semantics(m), false, Observer(m, budget), limits, threads);
  CriterionResult result;
  result.race = exploration->observer().race();
  if (!result.race && budget->why() != Stop::None) exploration->stop = budget->why();
  result.exploration = std::move(exploration);
  return result;
}

}  // namespace

CriterionResult explore_races(std::shared_ptr<const Machine> machine, bool triangular, const Limits& limits, int threads) {
  return triangular ? races<true>(std::move(machine), limits, threads) : races<false>(std::move(machine), limits, threads);
}

}  // namespace memfence
