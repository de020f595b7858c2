// LTL: emptiness of the product with a generalised Büchi automaton.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "search/emptiness.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memfence::bind {

namespace {

using EdgeTuple = std::tuple<int, std::uint64_t, std::uint64_t, std::uint64_t>;
using ConditionTuple = std::tuple<int, int, int>;

std::vector<std::tuple<int, int, int>> tuples(const std::vector<LassoStep>& steps) {
  std::vector<std::tuple<int, int, int>> out;
  for (const LassoStep& s : steps)
    out.emplace_back(s.stutters ? -1 : static_cast<int>(s.step.kind), s.step.process, s.step.number);
  return out;
}

}  // namespace

void bind_emptiness(nb::module_& m) {
  nb::class_<BuchiResult>(m, "BuchiResult")
      .def_prop_ro("stop", [](const BuchiResult& r) { return static_cast<int>(r.stop); })
      .def_ro("stats", &BuchiResult::stats)
      .def_ro("start", &BuchiResult::start)
      .def_prop_ro("prefix", [](const BuchiResult& r) { return tuples(r.prefix); })
      .def_prop_ro("cycle", [](const BuchiResult& r) { return tuples(r.cycle); });

  m.def(
      "find_accepted_run",
      [](std::shared_ptr<Machine> machine, int model, int bound, int initial, const std::vector<std::vector<EdgeTuple>>& edges,
         int marks, std::vector<int> atoms, const std::vector<ConditionTuple>& conditions, double timeout_seconds,
         std::uint64_t memory_bytes, std::shared_ptr<Cancel> cancel, nb::object progress) {
        BuchiQuery query{initial, {}, marks, std::move(atoms), {}};
        for (const auto& leaving : edges) {
          query.edges.emplace_back();
          for (const auto& [target, positive, negative, edge_marks] : leaving)
            query.edges.back().push_back({target, positive, negative, edge_marks});
        }
        for (const auto& [kind, number, buffer] : conditions)
          query.conditions.push_back({static_cast<ConditionKind>(kind), number, buffer});
        const Limits limits = make_limits(timeout_seconds, memory_bytes, std::move(cancel), progress);
        const nb::gil_scoped_release unlocked;
        return find_accepted_run(std::move(machine), Model{static_cast<ModelKind>(model), bound}, query, limits);
      },
      "machine"_a, "model"_a, "bound"_a, "initial"_a, "edges"_a, "marks"_a, "atoms"_a, "conditions"_a, "timeout_seconds"_a,
      "memory_bytes"_a, "cancel"_a.none(), "progress"_a.none(),
      "Look for an infinite run that the automaton accepts and that meets all conditions again and again.");
}

}  // namespace memfence::bind
