// The explicit engine.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "search/exploration.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memfence::bind {

namespace {

using StepTuple = std::tuple<int, int, int>;

StepTuple tuple_of(const Step& s) { return {static_cast<int>(s.kind), s.process, s.number}; }

}  // namespace

void bind_exploration(nb::module_& m) {
  nb::class_<Cancel>(m, "Cancel").def(nb::init<>()).def("cancel", [](Cancel& c) { c.flag->store(true); });

  nb::class_<SearchStats>(m, "SearchStats")
      .def_ro("states", &SearchStats::states)
      .def_ro("transitions", &SearchStats::transitions)
      .def_ro("refused", &SearchStats::refused)
      .def_ro("depth", &SearchStats::depth)
      .def_ro("widest", &SearchStats::widest)
      .def_ro("bytes", &SearchStats::bytes)
      .def_ro("state_bits", &SearchStats::state_bits)
      .def_ro("seconds", &SearchStats::seconds);

  nb::class_<Exploration>(m, "Exploration")
      .def_prop_ro("stop", [](const Exploration& e) { return static_cast<int>(e.stop); })
      .def_prop_ro("stats", [](const Exploration& e) { return e.stats; })
      .def_prop_ro("finding",
                   [](const Exploration& e) -> std::optional<std::tuple<int, Index, std::optional<StepTuple>>> {
                     if (!e.finding) return std::nullopt;
                     const Finding& f = *e.finding;
                     return std::tuple(static_cast<int>(f.kind), f.parent,
                                       f.has_step ? std::optional(tuple_of(f.step)) : std::nullopt);
                   })
      .def_prop_ro("final_states",
                   [](const Exploration& e) {
                     std::vector<std::tuple<std::vector<Value>, std::uint64_t, Index>> out;
                     for (const FinalState& f : e.final_states) out.emplace_back(f.values, f.count, f.index);
                     return out;
                   })
      .def_ro("final_count", &Exploration::final_count)
      .def(
          "path",
          [](const Exploration& e, Index index, const std::vector<StepTuple>& more) {
            std::vector<Step> after;
            for (const auto& [kind, process, number] : more) after.push_back({static_cast<StepKind>(kind), process, number});
            const Path path = e.path(index, after);
            std::vector<StepTuple> steps;
            for (const Step& s : path.steps) steps.push_back(tuple_of(s));
            return std::tuple(path.start, steps, path.who);
          },
          "index"_a, "more"_a)
      .def("values", &Exploration::values, "index"_a)
      .def("all_values", &Exploration::all_values);

  m.def(
      "explore_safety",
      [](std::shared_ptr<Machine> machine, int model, int bound, bool reduce, int bad, bool stop_on_failure,
         bool stop_on_deadlock, std::vector<int> final_values, int threads, std::uint64_t most_states, double timeout_seconds,
         std::uint64_t memory_bytes, std::shared_ptr<Cancel> cancel, nb::object progress) {
        Limits limits = make_limits(timeout_seconds, memory_bytes, std::move(cancel), progress);
        limits.most_states = most_states;
        const SafetyQuery query{bad, stop_on_failure, stop_on_deadlock, std::move(final_values)};
        const nb::gil_scoped_release unlocked;
        return explore_safety(std::move(machine), Model{static_cast<ModelKind>(model), bound}, reduce, query, limits, threads);
      },
      "machine"_a, "model"_a, "bound"_a, "reduce"_a, "bad"_a, "stop_on_failure"_a, "stop_on_deadlock"_a, "final_values"_a,
      "threads"_a, "most_states"_a, "timeout_seconds"_a, "memory_bytes"_a, "cancel"_a.none(), "progress"_a.none(),
      "Visit every reachable state breadth-first, looking for bad states, failing steps and deadlocks.");
}

}  // namespace memfence::bind
