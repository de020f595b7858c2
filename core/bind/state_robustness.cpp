// State-robustness.
#include "search/state_robustness.hpp"

#include <nanobind/stl/unique_ptr.h>

#include "bind.hpp"

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

  nb::class_<NonScResult>(m, "NonScResult")
      .def_prop_ro(
          "exploration", [](NonScResult& r) { return r.exploration.get(); }, nb::rv_policy::reference_internal)
      .def_ro("non_sc", &NonScResult::non_sc);

  def_search(
      m, "explore_sc_states",
      +[](Limits limits, std::shared_ptr<Machine> machine, int threads) {
        return std::make_unique<ScStates>(std::move(machine), limits, threads);
      },
      "Every SC-reachable state.", "machine"_a, "threads"_a);

  def_search(
      m, "explore_non_sc_states",
      +[](Limits limits, std::shared_ptr<Machine> machine, int model, int bound, const ScStates& sc, int threads) {
        return std::make_unique<NonScResult>(
            explore_non_sc_states(std::move(machine), Model{static_cast<ModelKind>(model), bound}, sc, limits, threads));
      },
      "Look for a state with empty buffers that is not among those of SC.", "machine"_a, "model"_a, "bound"_a, "sc"_a,
      "threads"_a);
}

}  // namespace memfence::bind
