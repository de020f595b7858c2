// The Dual-TSO engine.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "dual/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memfence::bind {

void bind_dual(nb::module_& m) {
  nb::class_<dual::Stats>(m, "DualStats")
      .def_ro("local_states", &dual::Stats::local_states)
      .def_ro("process_states", &dual::Stats::process_states)
      .def_ro("sets", &dual::Stats::sets)
      .def_ro("starts", &dual::Stats::starts)
      .def_ro("expanded", &dual::Stats::expanded)
      .def_ro("predecessors", &dual::Stats::predecessors)
      .def_ro("stored", &dual::Stats::stored)
      .def_ro("minimal", &dual::Stats::minimal)
      .def_ro("longest", &dual::Stats::longest)
      .def_ro("bytes", &dual::Stats::bytes)
      .def_ro("seconds", &dual::Stats::seconds);

  nb::class_<dual::Outcome>(m, "DualOutcome")
      .def_prop_ro("stop", [](const dual::Outcome& o) { return static_cast<int>(o.stop); })
      .def_prop_ro("finding",
                   [](const dual::Outcome& o) -> std::optional<int> {
                     return o.finding ? std::optional(static_cast<int>(*o.finding)) : std::nullopt;
                   })
      .def_prop_ro("stats", [](const dual::Outcome& o) { return o.stats; })
      .def_prop_ro("run",
                   [](const dual::Outcome& o) -> std::optional<std::pair<std::size_t, std::vector<std::pair<int, int>>>> {
                     if (!o.witness.complete) return std::nullopt;
                     std::vector<std::pair<int, int>> steps;
                     for (const auto& [process, edge] : o.witness.steps) steps.emplace_back(process, edge);
                     return std::pair(o.witness.start, std::move(steps));
                   });

  m.def(
      "explore_dual",
      [](std::shared_ptr<Machine> machine, int bad, int bad_final, bool failures, bool reduce,
         std::vector<std::vector<int>> location_classes, std::uint64_t most_states, double timeout_seconds,
         std::uint64_t memory_bytes, std::shared_ptr<Cancel> cancel, nb::object progress) {
        Limits limits = make_limits(timeout_seconds, memory_bytes, std::move(cancel), progress);
        limits.most_states = most_states;
        const dual::Question question{bad, bad_final, failures, reduce, std::move(location_classes)};
        const nb::gil_scoped_release unlocked;
        return dual::explore(*machine, question, limits);
      },
      "machine"_a, "bad"_a, "bad_final"_a, "failures"_a, "reduce"_a, "location_classes"_a, "most_states"_a, "timeout_seconds"_a,
      "memory_bytes"_a, "cancel"_a.none(), "progress"_a.none(),
      "Search backwards from bad states under the dual semantics of TSO: ends for every finite-state program.");
}

}  // namespace memfence::bind
