// Stateless exploration.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "stateless/stateless.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memfence::bind {

namespace {

// (op, process, variable, value, accepts)
using EventTuple = std::tuple<int, int, int, std::optional<std::int64_t>, std::optional<std::vector<std::int64_t>>>;

EventTuple tuple_of(const MemoryEvent& e) {
  return {static_cast<int>(e.op), static_cast<int>(e.thread), static_cast<int>(e.address),
          e.has_value ? std::optional(e.value) : std::nullopt, e.has_accepts ? std::optional(e.accepts) : std::nullopt};
}

}  // namespace

void bind_stateless(nb::module_& m) {
  nb::class_<Schedule>(m, "Schedule")
      .def_ro("start", &Schedule::start)
      .def_ro("edges", &Schedule::edges)
      .def_ro("borderline", &Schedule::borderline)
      .def_ro("failed", &Schedule::failed)
      .def_ro("truncated", &Schedule::truncated);

  nb::class_<BorderlineFinding>(m, "BorderlineFinding")
      .def_ro("schedule", &BorderlineFinding::schedule)
      .def_ro("edge", &BorderlineFinding::edge)
      .def_prop_ro("reads", [](const BorderlineFinding& f) {
        std::vector<std::tuple<int, std::uint64_t, std::int64_t>> out;
        for (const StaleRead& r : f.reads) out.emplace_back(r.variable, r.seen, r.value);
        return out;
      });

  nb::class_<ExploreResult>(m, "ExploreResult")
      .def_prop_ro("stop", [](const ExploreResult& r) { return static_cast<int>(r.stop); })
      .def_ro("reduced", &ExploreResult::reduced)
      .def_ro("executions", &ExploreResult::executions)
      .def_ro("borderline", &ExploreResult::borderline)
      .def_ro("failed", &ExploreResult::failed)
      .def_ro("deadlocked", &ExploreResult::deadlocked)
      .def_ro("redundant", &ExploreResult::redundant)
      .def_ro("truncated", &ExploreResult::truncated)
      .def_ro("cut", &ExploreResult::cut)
      .def_ro("steps", &ExploreResult::steps)
      .def_ro("seconds", &ExploreResult::seconds)
      .def_ro("first_borderline_seconds", &ExploreResult::first_borderline_seconds)
      .def_ro("first_failure_seconds", &ExploreResult::first_failure_seconds)
      .def_ro("finding", &ExploreResult::finding)
      .def_ro("failure", &ExploreResult::failure)
      .def_ro("kept", &ExploreResult::kept);

  m.def(
      "explore_stateless",
      [](std::shared_ptr<Machine> machine, bool monitor, bool reduce, int preemptions, std::uint64_t depth, bool stop_at_first,
         std::uint64_t keep, double timeout_seconds, std::uint64_t memory_bytes, std::shared_ptr<Cancel> cancel,
         nb::object progress) {
        const Limits limits = make_limits(timeout_seconds, memory_bytes, std::move(cancel), progress);
        const ExploreOptions options{monitor, reduce, preemptions, depth, stop_at_first, keep};
        const nb::gil_scoped_release unlocked;
        return explore_stateless(std::move(machine), options, limits);
      },
      "machine"_a, "monitor"_a, "reduce"_a, "preemptions"_a, "depth"_a, "stop_at_first"_a, "keep"_a, "timeout_seconds"_a,
      "memory_bytes"_a, "cancel"_a.none(), "progress"_a.none(),
      "Run SC executions one after the other, each class of equivalent ones once, looking for borderline executions.");

  m.def(
      "schedule_events",
      [](std::shared_ptr<Machine> machine, std::uint64_t start, std::vector<int> edges, bool truncated) {
        Schedule schedule;
        schedule.start = start;
        schedule.edges = std::move(edges);
        schedule.truncated = truncated;
        std::vector<std::pair<int, std::vector<EventTuple>>> out;
        for (const TraceStep& step : schedule_events(std::move(machine), schedule)) {
          out.emplace_back(step.edge, std::vector<EventTuple>{});
          for (const MemoryEvent& e : step.events) out.back().second.push_back(tuple_of(e));
        }
        return out;
      },
      "machine"_a, "start"_a, "edges"_a, "truncated"_a,
      "The memory events of a schedule, step by step, as a monitor of the trace needs them.");
}

}  // namespace memfence::bind
