// LTL: emptiness of the product with a generalised Büchi automaton.
#include "search/emptiness.hpp"

#include <nanobind/stl/tuple.h>

#include "bind.hpp"

namespace memfence::bind {

namespace {

std::vector<std::tuple<int, int, int>> tuples(const std::vector<LassoStep>& steps) {
  std::vector<std::tuple<int, int, int>> out;
  for (const LassoStep& s : steps)
    out.emplace_back(s.stutters ? -1 : static_cast<int>(s.step.kind), s.step.process, s.step.number);
  return out;
}

}  // namespace

BuchiQuery query_of(int initial, const std::vector<std::vector<EdgeTuple>>& edges, int marks, std::vector<int> atoms,
                    const std::vector<ConditionTuple>& conditions) {
  BuchiQuery query{initial, {}, marks, std::move(atoms), {}};
  for (const auto& leaving : edges) {
    query.edges.emplace_back();
    for (const auto& [target, positive, negative, edge_marks] : leaving)
      query.edges.back().push_back({target, positive, negative, edge_marks});
  }
  for (const auto& [kind, number, buffer] : conditions)
    query.conditions.push_back({static_cast<ConditionKind>(kind), number, buffer});
  return query;
}

void bind_emptiness(nb::module_& m) {
  def_record(m, "BuchiResult", Field{"stop", &BuchiResult::stop}, Field{"stats", &BuchiResult::stats},
             Field{"start", &BuchiResult::start})
      .def_prop_ro("prefix", [](const BuchiResult& r) { return tuples(r.prefix); })
      .def_prop_ro("cycle", [](const BuchiResult& r) { return tuples(r.cycle); });

  def_search(
      m, "find_accepted_run",
      +[](Limits limits, std::shared_ptr<Machine> machine, int model, int bound, int initial,
          const std::vector<std::vector<EdgeTuple>>& edges, int marks, std::vector<int> atoms,
          const std::vector<ConditionTuple>& conditions, bool reduce, std::uint64_t alone_states, int threads,
          std::uint64_t most_states) {
        limits.most_states = most_states;
        const BuchiQuery query = query_of(initial, edges, marks, std::move(atoms), conditions);
        return find_accepted_run(*machine, Model{static_cast<ModelKind>(model), bound}, reduce, query,
                                 Sharing{alone_states, threads}, limits);
      },
      "Look for an infinite run that the automaton accepts and that meets all conditions again and again.", "machine"_a,
      "model"_a, "bound"_a, "initial"_a, "edges"_a, "marks"_a, "atoms"_a, "conditions"_a, "reduce"_a, "alone_states"_a,
      "threads"_a, "most_states"_a);
}

}  // namespace memfence::bind
