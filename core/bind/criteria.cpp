// Persistence, robustness, races.
#include "attacks/criteria.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include "bind.hpp"

namespace memfence::bind {

namespace {

std::vector<std::pair<int, bool>> pairs(const std::vector<HelperStep>& steps) {
  std::vector<std::pair<int, bool>> out;
  for (const HelperStep& s : steps) out.emplace_back(s.edge, s.completed);
  return out;
}

}  // namespace

void bind_criteria(nb::module_& m) {
  def_record(m, "Attack", Field{"state", &Attack::state}, Field{"attacker", &Attack::attacker},
             Field{"is_helper_first", &Attack::is_helper_first})
      .def_prop_ro("delayed", [](const Attack& a) { return a.end.delayed; })
      .def_prop_ro("early", [](const Attack& a) { return a.end.early; })
      .def_prop_ro("separated_at", [](const Attack& a) { return a.end.separated_at; })
      .def_prop_ro("accesses", [](const Attack& a) { return a.end.accesses; })
      .def_prop_ro("separable", [](const Attack& a) { return a.end.separable; })
      .def_prop_ro("crossed", [](const Attack& a) { return a.end.crossed; })
      .def_prop_ro("edges", [](const Attack& a) { return a.end.edges; })
      .def_prop_ro("helpers", [](const Attack& a) { return pairs(a.helpers); })
      .def_prop_ro("intervals", [](const Attack& a) {
        std::vector<std::pair<int, std::vector<std::pair<int, bool>>>> out;
        for (const Attack::Interval& interval : a.intervals) out.emplace_back(interval.walked, pairs(interval.steps));
        return out;
      });

  def_record(m, "Race", Field{"state", &Race::state}, Field{"process", &Race::process}, Field{"edge", &Race::edge},
             Field{"other_process", &Race::other_process}, Field{"other_edge", &Race::other_edge},
             Field{"variable", &Race::variable}, Field{"unfenced", &Race::unfenced});

  nb::class_<CriterionResult> result(m, "CriterionResult");
  result.def_prop_ro("exploration", [](CriterionResult& r) { return r.exploration.get(); }, nb::rv_policy::reference_internal);
  def_fields(result, Field{"attacks", &CriterionResult::attacks}, Field{"race", &CriterionResult::race},
             Field{"chain_nodes", &CriterionResult::chain_nodes}, Field{"open", &CriterionResult::open},
             Field{"by_text", &CriterionResult::by_text});

  def_search(
      m, "explore_attacks",
      +[](Limits limits, std::shared_ptr<Machine> machine, int criterion, bool collect, bool every_torn,
          std::vector<KnownClause> known, std::vector<int> moving, bool by_text, std::uint64_t most_states, int threads) {
        limits.most_states = most_states;
        AttackSearch search{
            static_cast<Criterion>(criterion), collect, every_torn, std::move(known), std::move(moving), by_text};
        return std::make_unique<CriterionResult>(explore_attacks(std::move(machine), std::move(search), limits, threads));
      },
      "Look for attacks while visiting every SC-reachable state, or every one that the `moving` processes reach alone; attacks "
      "across all of a `known` clause do not count. With `by_text`, no state is visited where the text shows that none is "
      "needed.",
      "machine"_a, "criterion"_a, "collect"_a, "every_torn"_a, "known"_a, "moving"_a, "by_text"_a, "most_states"_a,
      "threads"_a);

  def_search(
      m, "explore_races",
      +[](Limits limits, std::shared_ptr<Machine> machine, bool triangular, int threads) {
        return std::make_unique<CriterionResult>(explore_races(std::move(machine), triangular, limits, threads));
      },
      "Look for a data race, or a triangular one, while visiting every SC-reachable state.", "machine"_a, "triangular"_a,
      "threads"_a);
}

}  // namespace memfence::bind
