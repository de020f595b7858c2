// State-robustness.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "search/state_robustness.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memfence::bind {

void bind_state_robustness(nb::module_& m) {
  nb::class_<ScStates>(m, "ScStates")
      .def_prop_ro("stop", [](const ScStates& s) { return static_cast<int>(s.stop()); })
      .def_prop_ro("stats", [](const ScStates& s) { return s.stats(); })
      .def(
          "contains",
          [](const ScStates& s, const std::vector<Value>& slots) {
            std::vector<std::uint64_t> scratch;
            return s.contains(slots.data(), scratch);
          },
          "slots"_a, "Whether SC reaches a state with these values of all slots.");

  nb::class_<StrayResult>(m, "StrayResult")
      .def_prop_ro(
          "exploration", [](StrayResult& r) { return r.exploration.get(); }, nb::rv_policy::reference_internal)
      .def_ro("stray", &StrayResult::stray);

  m.def(
      "explore_sc_states",
      [](std::shared_ptr<Machine> machine, int threads, double timeout_seconds, std::uint64_t memory_bytes,
         std::shared_ptr<Cancel> cancel, nb::object progress) {
        const Limits limits = make_limits(timeout_seconds, memory_bytes, std::move(cancel), progress);
        const nb::gil_scoped_release unlocked;
        return std::make_unique<ScStates>(std::move(machine), limits, threads);
      },
      "machine"_a, "threads"_a, "timeout_seconds"_a, "memory_bytes"_a, "cancel"_a.none(), "progress"_a.none(),
      "Every SC-reachable state.");

  m.def(
      "explore_stray_states",
      [](std::shared_ptr<Machine> machine, int model, int bound, const ScStates& sc, int threads, double timeout_seconds,
         std::uint64_t memory_bytes, std::shared_ptr<Cancel> cancel, nb::object progress) {
        const Limits limits = make_limits(timeout_seconds, memory_bytes, std::move(cancel), progress);
        const nb::gil_scoped_release unlocked;
        return std::make_unique<StrayResult>(
            explore_stray_states(std::move(machine), Model{static_cast<ModelKind>(model), bound}, sc, limits, threads));
      },
      "machine"_a, "model"_a, "bound"_a, "sc"_a, "threads"_a, "timeout_seconds"_a, "memory_bytes"_a, "cancel"_a.none(),
      "progress"_a.none(), "Look for a state with empty buffers that is not among those of SC.");
}

}  // namespace memfence::bind
