// The explicit engine.
#include "search/exploration.hpp"

#include <nanobind/stl/unique_ptr.h>

#include "bind.hpp"
#include "search/rows.hpp"

namespace memfence::bind {

namespace {

std::vector<std::tuple<std::vector<Value>, std::uint64_t, Index>> final_states_of(const Exploration& e) {
  std::vector<std::tuple<std::vector<Value>, std::uint64_t, Index>> out;
  for (const FinalState& f : e.final_states) out.emplace_back(f.values, f.count, f.index);
  return out;
}

using ColumnTuple = std::tuple<int, Value, int, int, int, std::optional<std::tuple<int, std::uint64_t>>>;

using MemberTuple = std::tuple<std::vector<std::size_t>, std::uint64_t>;

std::unique_ptr<SortedRows> sorted_rows_of(const Exploration& e, const std::vector<ColumnTuple>& columns,
                                           const std::vector<std::vector<MemberTuple>>& alike, int lock_column) {
  std::vector<RowColumn> plain;
  for (const auto& [slot, lo, width, length_slot, position, marked] : columns) {
    const auto [mark_slot, code] = marked.value_or(std::tuple<int, std::uint64_t>(-1, 0));
    plain.push_back({slot, lo, width, length_slot, position, mark_slot, code});
  }
  RowClasses classes{{}, lock_column};
  for (const std::vector<MemberTuple>& members : alike) {
    std::vector<RowMember>& own = classes.alike.emplace_back();
    for (const auto& [places, owner] : members) own.push_back({places, owner});
  }
  const Unlocked unlocked;
  return std::make_unique<SortedRows>(e, std::move(plain), std::move(classes));
}

}  // namespace

void bind_exploration(nb::module_& m) {
  nb::class_<Cancel>(m, "Cancel").def(nb::init<>()).def("cancel", [](Cancel& c) { c.flag->store(true); });

  def_record(m, "SearchStats", Field{"states", &SearchStats::states}, Field{"transitions", &SearchStats::transitions},
             Field{"refused", &SearchStats::refused}, Field{"failures", &SearchStats::failures},
             Field{"depth", &SearchStats::depth}, Field{"widest", &SearchStats::widest}, Field{"bytes", &SearchStats::bytes},
             Field{"state_bits", &SearchStats::state_bits}, Field{"seconds", &SearchStats::seconds});

  nb::class_<SortedRows>(m, "SortedRows")
      .def_prop_ro("size", &SortedRows::size)
      .def(
          "block",
          [](const SortedRows& self, std::size_t first, std::size_t rows) {
            const std::string block = self.block(first, rows);
            return nb::bytes(block.data(), block.size());
          },
          "first"_a, "rows"_a);

  def_record(m, "Exploration", Field{"stop", &Exploration::stop}, Field{"stats", &Exploration::stats},
             Field{"is_compact", &Exploration::is_compact})
      .def_prop_ro("finding", [](const Exploration& e) { return tuple_of(e.finding); })
      .def_prop_ro("final_states", &final_states_of)
      .def_ro("final_count", &Exploration::final_count)
      .def_prop_ro(
          "taken",
          [](const Exploration& e) { return nb::bytes(reinterpret_cast<const char*>(e.taken.data()), e.taken.size()); })
      .def(
          "path",
          [](const Exploration& e, Index index, const std::vector<StepTuple>& more) {
            return tuple_of(e.path(index, steps_from(more)));
          },
          "index"_a, "more"_a)
      .def("values", &Exploration::values, "index"_a)
      .def("all_values", &Exploration::all_values)
      .def("sorted_rows", &sorted_rows_of, "columns"_a, "alike"_a = std::vector<std::vector<MemberTuple>>(),
           "lock_column"_a = -1);

  def_search(
      m, "explore_safety",
      +[](Limits limits, std::shared_ptr<Machine> machine, int model, int bound, bool reduce, int bad, bool stop_on_failure,
          bool stop_on_deadlock, std::vector<int> final_values, int threads, std::uint64_t most_states) {
        limits.most_states = most_states;
        const SafetyQuery query{bad, stop_on_failure, stop_on_deadlock, std::move(final_values)};
        return explore_safety(std::move(machine), Model{static_cast<ModelKind>(model), bound}, reduce, query, limits, threads);
      },
      "Visit every reachable state breadth-first, looking for bad states, failing steps and deadlocks.", "machine"_a, "model"_a,
      "bound"_a, "reduce"_a, "bad"_a, "stop_on_failure"_a, "stop_on_deadlock"_a, "final_values"_a, "threads"_a,
      "most_states"_a);
}

}  // namespace memfence::bind
