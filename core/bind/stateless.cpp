// Stateless exploration.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "stateless/stateless.hpp"

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
  def_record(m, "Schedule", Field{"start", &Schedule::start}, Field{"edges", &Schedule::edges},
             Field{"borderline", &Schedule::borderline}, Field{"failed", &Schedule::failed},
             Field{"truncated", &Schedule::truncated});

  def_record(m, "BorderlineFinding", Field{"schedule", &BorderlineFinding::schedule}, Field{"edge", &BorderlineFinding::edge})
      .def_prop_ro("reads", [](const BorderlineFinding& f) {
        std::vector<std::tuple<int, std::uint64_t, std::int64_t>> out;
        for (const StaleRead& r : f.reads) out.emplace_back(r.variable, r.seen, r.value);
        return out;
      });

  using Result = ExploreResult;
  def_record(m, "ExploreResult", Field{"stop", &Result::stop}, Field{"reduced", &Result::reduced},
             Field{"executions", &Result::executions}, Field{"borderline", &Result::borderline},
             Field{"failed", &Result::failed}, Field{"deadlocked", &Result::deadlocked}, Field{"redundant", &Result::redundant},
             Field{"truncated", &Result::truncated}, Field{"cut", &Result::cut}, Field{"steps", &Result::steps},
             Field{"seconds", &Result::seconds}, Field{"first_borderline_seconds", &Result::first_borderline_seconds},
             Field{"first_failure_seconds", &Result::first_failure_seconds}, Field{"finding", &Result::finding},
             Field{"failure", &Result::failure}, Field{"stuck", &Result::stuck}, Field{"kept", &Result::kept});

  def_search(
      m, "explore_stateless",
      +[](Limits limits, std::shared_ptr<Machine> machine, bool monitor, bool reduce, int preemptions, std::uint64_t depth,
          bool stop_at_first, std::uint64_t keep, int parts, int part) {
        const ExploreOptions options{monitor, reduce, preemptions, depth, stop_at_first, keep, parts, part};
        return explore_stateless(*machine, options, limits);
      },
      "Run SC executions one after the other, each class of equivalent ones once, looking for borderline executions; "
      "or one of several parts of them.",
      "machine"_a, "monitor"_a, "reduce"_a, "preemptions"_a, "depth"_a, "stop_at_first"_a, "keep"_a, "parts"_a, "part"_a);

  m.def(
      "schedule_events",
      [](std::shared_ptr<Machine> machine, std::uint64_t start, std::vector<int> edges, bool truncated) {
        Schedule schedule;
        schedule.start = start;
        schedule.edges = std::move(edges);
        schedule.truncated = truncated;
        std::vector<std::pair<int, std::vector<EventTuple>>> out;
        for (const TraceStep& step : schedule_events(*machine, schedule)) {
          out.emplace_back(step.edge, std::vector<EventTuple>{});
          for (const MemoryEvent& e : step.events) out.back().second.push_back(tuple_of(e));
        }
        return out;
      },
      "machine"_a, "start"_a, "edges"_a, "truncated"_a,
      "The memory events of a schedule, step by step, as a monitor of the trace needs them.");
}

}  // namespace memfence::bind
