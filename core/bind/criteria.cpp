// Persistence, robustness, races.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "attacks/criteria.hpp"
#include "bind.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memfence::bind {

void bind_criteria(nb::module_& m) {
  nb::class_<Attack>(m, "Attack")
      .def_ro("state", &Attack::state)
      .def_ro("attacker", &Attack::attacker)
      .def_ro("is_helper_first", &Attack::is_helper_first)
      .def_prop_ro("delayed", [](const Attack& a) { return a.end.delayed; })
      .def_prop_ro("early", [](const Attack& a) { return a.end.early; })
      .def_prop_ro("separated_at", [](const Attack& a) { return a.end.separated_at; })
      .def_prop_ro("accesses", [](const Attack& a) { return a.end.accesses; })
      .def_prop_ro("separable", [](const Attack& a) { return a.end.separable; })
      .def_prop_ro("crossed", [](const Attack& a) { return a.end.crossed; })
      .def_prop_ro("edges", [](const Attack& a) { return a.end.edges; })
      .def_prop_ro("helpers",
                   [](const Attack& a) {
                     std::vector<std::pair<int, bool>> steps;
                     for (const HelperStep& s : a.helpers) steps.emplace_back(s.edge, s.completed);
                     return steps;
                   })
      .def_prop_ro("intervals", [](const Attack& a) {
        std::vector<std::pair<int, std::vector<std::pair<int, bool>>>> intervals;
        for (const Attack::Interval& interval : a.intervals) {
          intervals.emplace_back(interval.walked, std::vector<std::pair<int, bool>>{});
          for (const HelperStep& s : interval.steps) intervals.back().second.emplace_back(s.edge, s.completed);
        }
        return intervals;
      });

  nb::class_<Race>(m, "Race")
      .def_ro("state", &Race::state)
      .def_ro("process", &Race::process)
      .def_ro("edge", &Race::edge)
      .def_ro("other_process", &Race::other_process)
      .def_ro("other_edge", &Race::other_edge)
      .def_ro("variable", &Race::variable)
      .def_ro("unfenced", &Race::unfenced);

  nb::class_<CriterionResult>(m, "CriterionResult")
      .def_prop_ro(
          "exploration", [](CriterionResult& r) { return r.exploration.get(); }, nb::rv_policy::reference_internal)
      .def_ro("attacks", &CriterionResult::attacks)
      .def_ro("race", &CriterionResult::race)
      .def_ro("chain_nodes", &CriterionResult::chain_nodes);

  m.def(
      "explore_attacks",
      [](std::shared_ptr<Machine> machine, int criterion, bool collect, bool every_torn, int threads, double timeout_seconds,
         std::uint64_t memory_bytes, std::shared_ptr<Cancel> cancel, nb::object progress) {
        const Limits limits = make_limits(timeout_seconds, memory_bytes, std::move(cancel), progress);
        const nb::gil_scoped_release unlocked;
        return std::make_unique<CriterionResult>(
            explore_attacks(std::move(machine), static_cast<Criterion>(criterion), collect, every_torn, limits, threads));
      },
      "machine"_a, "criterion"_a, "collect"_a, "every_torn"_a, "threads"_a, "timeout_seconds"_a, "memory_bytes"_a,
      "cancel"_a.none(), "progress"_a.none(), "Look for attacks while visiting every SC-reachable state.");

  m.def(
      "explore_races",
      [](std::shared_ptr<Machine> machine, bool triangular, int threads, double timeout_seconds, std::uint64_t memory_bytes,
         std::shared_ptr<Cancel> cancel, nb::object progress) {
        const Limits limits = make_limits(timeout_seconds, memory_bytes, std::move(cancel), progress);
        const nb::gil_scoped_release unlocked;
        return std::make_unique<CriterionResult>(explore_races(std::move(machine), triangular, limits, threads));
      },
      "machine"_a, "triangular"_a, "threads"_a, "timeout_seconds"_a, "memory_bytes"_a, "cancel"_a.none(), "progress"_a.none(),
      "Look for a data race, or a triangular one, while visiting every SC-reachable state.");
}

}  // namespace memfence::bind
