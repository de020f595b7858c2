// Execution graphs of unrolled code.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "graphs/code_search.hpp"

namespace memfence::bind {

namespace {

// (kind, guard, slot, base, index, value, order, partner, guess, more)
using ItemTuple = std::tuple<int, int, int, int, int, int, int, int, int, std::vector<std::int64_t>>;
using RecordedTuple =
    std::pair<std::vector<std::vector<std::tuple<int, std::int64_t, int, int>>>, std::vector<std::vector<std::pair<int, int>>>>;
using Codes = std::vector<std::vector<Value>>;

std::vector<Expression> expressions_of(const Codes& codes) {
  std::vector<Expression> found;
  for (const std::vector<Value>& code : codes) found.emplace_back(code);
  return found;
}

graphs::Item item_of(const ItemTuple& tuple) {
  const auto& [kind, guard, slot, base, index, value, order, partner, guess, more] = tuple;
  return {static_cast<graphs::ItemKind>(kind), guard,   slot,  base, index, value,
          static_cast<graphs::Order>(order),   partner, guess, more};
}

RecordedTuple tuple_of(const graphs::RecordedGraph& graph) {
  RecordedTuple found;
  for (const auto& thread : graph.threads) {
    found.first.emplace_back();
    for (const auto& e : thread) found.first.back().emplace_back(e.item, e.value, e.source_thread, e.source_number);
  }
  found.second = graph.orders;
  return found;
}

}  // namespace

void bind_graphs(nb::module_& m) {
  nb::class_<graphs::Code>(m, "GraphCode")
      .def(
          "__init__",
          [](graphs::Code* code, const std::vector<std::vector<ItemTuple>>& threads, std::vector<int> slots,
             std::vector<Value> initial, const Codes& expressions) {
            new (code) graphs::Code();
            for (const auto& items : threads) {
              code->threads.emplace_back();
              for (const ItemTuple& item : items) code->threads.back().push_back(item_of(item));
            }
            code->slots = std::move(slots);
            code->initial = std::move(initial);
            code->expressions = expressions_of(expressions);
          },
          "threads"_a, "slots"_a, "initial"_a, "expressions"_a);

  using Result = graphs::CodeExplored;
  nb::class_<Result>(m, "GraphsExplored")
      .def_prop_ro("stop", [](const Result& r) { return static_cast<int>(r.explored.stop); })
      .def_prop_ro("executions", [](const Result& r) { return r.explored.executions; })
      .def_prop_ro("blocked", [](const Result& r) { return r.explored.blocked; })
      .def_prop_ro("cut", [](const Result& r) { return r.explored.cut; })
      .def_prop_ro("given_up", [](const Result& r) { return r.explored.given_up; })
      .def_prop_ro("revisits", [](const Result& r) { return r.explored.revisits; })
      .def_prop_ro("events", [](const Result& r) { return r.explored.events; })
      .def_prop_ro("seconds", [](const Result& r) { return r.explored.seconds; })
      .def_ro("is_beyond", &Result::is_beyond)
      .def_prop_ro("outcomes", [](const Result& r) { return Codes(r.outcomes.begin(), r.outcomes.end()); })
      .def_prop_ro("wrong",
                   [](const Result& r) {
                     std::vector<std::tuple<int, int, RecordedTuple>> out;
                     for (const auto& w : r.wrong) out.emplace_back(static_cast<int>(w.what), w.condition, tuple_of(w.graph));
                     return out;
                   })
      .def_prop_ro("kept", [](const Result& r) {
        std::vector<RecordedTuple> out;
        for (const auto& graph : r.kept) out.push_back(tuple_of(graph));
        return out;
      });

  def_search(
      m, "explore_graphs",
      +[](Limits limits, const graphs::Code& code, int model, const Codes& endings, std::vector<int> bad,
          std::vector<int> observed, std::vector<int> registers, bool waits, bool races_branch, std::uint64_t keep,
          std::uint64_t most_events) {
        limits.most_states = most_events;
        const graphs::Wanted wanted{expressions_of(endings),
                                    std::move(bad),
                                    std::move(observed),
                                    std::move(registers),
                                    waits,
                                    races_branch ? graphs::Races::Branch : graphs::Races::End,
                                    keep};
        return graphs::explore_code(code, static_cast<graphs::ModelName>(model), wanted, limits);
      },
      "All execution graphs of unrolled code that the model allows: what goes wrong, and how they end.", "code"_a, "model"_a,
      "endings"_a, "bad"_a, "observed"_a, "registers"_a, "waits"_a, "races_branch"_a, "keep"_a, "most_events"_a);
}

}  // namespace memfence::bind
