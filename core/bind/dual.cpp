// The Dual-TSO engine.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "dual/search.hpp"

namespace memfence::bind {

namespace {

// Number of the initial state; (process, edge)...; of each process its kind, its role and the registers it starts with.
using Run = std::tuple<std::size_t, std::vector<std::pair<int, int>>, std::vector<int>, std::vector<int>,
                       std::vector<std::vector<Value>>>;

std::optional<Run> run_of(const dual::Outcome& outcome) {
  if (!outcome.witness.complete) return std::nullopt;
  std::vector<std::pair<int, int>> steps;
  for (const auto& [process, edge] : outcome.witness.steps) steps.emplace_back(process, edge);
  return Run(outcome.witness.start, std::move(steps), outcome.witness.kinds, outcome.witness.roles, outcome.witness.registers);
}

}  // namespace

void bind_dual(nb::module_& m) {
  using dual::Stats, dual::Outcome;
  def_record(m, "DualStats", Field{"local_states", &Stats::local_states}, Field{"process_states", &Stats::process_states},
             Field{"sets", &Stats::sets}, Field{"starts", &Stats::starts}, Field{"expanded", &Stats::expanded},
             Field{"predecessors", &Stats::predecessors}, Field{"stored", &Stats::stored}, Field{"minimal", &Stats::minimal},
             Field{"longest", &Stats::longest}, Field{"most_parts", &Stats::most_parts}, Field{"bytes", &Stats::bytes},
             Field{"seconds", &Stats::seconds});
  def_record(m, "DualOutcome", Field{"stop", &Outcome::stop}, Field{"finding", &Outcome::finding},
             Field{"stats", &Outcome::stats})
      .def_prop_ro("run", &run_of);

  def_search(
      m, "explore_dual",
      +[](Limits limits, std::shared_ptr<Machine> machine, int bad, int bad_final, bool failures, bool reduce,
          std::vector<std::vector<int>> location_classes, int fixed, std::vector<int> kind_of, std::uint64_t most_states) {
        limits.most_states = most_states;
        const dual::Question question{
            bad, bad_final, failures, reduce, std::move(location_classes), {fixed, std::move(kind_of)}};
        return dual::explore(*machine, question, limits);
      },
      "Search backwards from bad states under the dual semantics of TSO: ends for every finite-state program.", "machine"_a,
      "bad"_a, "bad_final"_a, "failures"_a, "reduce"_a, "location_classes"_a, "fixed"_a, "kind_of"_a, "most_states"_a);
}

}  // namespace memfence::bind
