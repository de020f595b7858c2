// One part of a search that several machines share.
#include "cluster/cycles.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>

#include <cstring>

#include "bind.hpp"

namespace memfence::bind {

namespace {

using SeenTuple = std::tuple<std::vector<Value>, std::uint64_t, std::uint64_t, Index>;

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// A bytes object of the given size that `fill` writes, without the GIL.
template <class Fill>
nb::bytes filled(std::size_t size, Fill&& fill) {
  nb::bytes out = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  char* const data = PyBytes_AS_STRING(out.ptr());
  const Unlocked unlocked;
  fill(data);
  return out;
}

std::vector<Word> words_of(const nb::bytes& state, std::size_t words) {
  if (state.size() != words * sizeof(Word)) throw std::invalid_argument("a state of another size");
  std::vector<Word> out(words);
  std::memcpy(out.data(), state.c_str(), state.size());
  return out;
}

PathTuple path_along(const Partition& p, const std::vector<nb::bytes>& chain, const std::vector<StepTuple>& more) {
  std::vector<std::vector<Word>> states;
  for (const nb::bytes& state : chain) states.push_back(words_of(state, p.words()));
  std::vector<const Word*> words;
  for (const auto& state : states) words.push_back(state.data());
  return tuple_of(p.path(words, steps_from(more)));
}

std::vector<SeenTuple> finals_of(const Counted& counted) {
  std::vector<SeenTuple> out;
  for (const auto& [values, seen] : counted.finals) out.emplace_back(values, seen.count, seen.depth, seen.index);
  return out;
}

std::vector<std::pair<Index, int>> arrivals_of(const Counted& counted) {
  std::vector<std::pair<Index, int>> out;
  for (const Arrival& a : counted.arrivals) out.emplace_back(a.first, a.sender);
  return out;
}

Counted counted_again(std::uint64_t level, std::uint64_t size, std::uint64_t states, std::uint64_t transitions,
                      std::uint64_t refused, const std::vector<std::pair<Index, int>>& arrivals,
                      const std::vector<SeenTuple>& finals) {
  Counted counted;
  counted.progress = {
      .level = level, .size = size, .left = size, .states = states, .transitions = transitions, .refused = refused};
  for (const auto& [first, sender] : arrivals) counted.arrivals.push_back({first, sender});
  for (const auto& [values, count, depth, index] : finals) counted.finals[values] = {count, depth, index};
  return counted;
}

// Rounds are alike whatever is searched for.
template <class Part>
nb::class_<Part> bind_rounds(nb::module_& m, const char* name) {
  return nb::class_<Part>(m, name)
      .def(
          "receive",
          [](Part& p, int sender, const nb::bytes& message) {
            const std::string_view text = view(message);
            const Unlocked unlocked;
            p.receive(sender, text);
          },
          "sender"_a, "message"_a)
      .def("turn", &Part::turn, nb::call_guard<Unlocked>())
      .def("expand", &Part::expand, nb::call_guard<Unlocked>())
      .def(
          "message",
          [](Part& p, int owner) { return filled(p.message_size(owner), [&](char* out) { p.write_message(owner, out); }); },
          "owner"_a)
      .def_prop_ro("progress", [](const Part& p) { return p.progress(); })
      .def(
          "state", [](const Part& p, Index index) { return nb::bytes(p.state(index).data(), p.state(index).size()); },
          "index"_a)
      .def(
          "parent", [](const Part& p, Index index) { return std::pair(p.parent(index).owner, p.parent(index).index); },
          "index"_a);
}

void bind_cycles(nb::module_& m) {
  def_record(m, "CycleProgress", Field{"level", &CycleProgress::level}, Field{"size", &CycleProgress::size},
             Field{"left", &CycleProgress::left}, Field{"alive", &CycleProgress::alive},
             Field{"states", &CycleProgress::states}, Field{"transitions", &CycleProgress::transitions},
             Field{"refused", &CycleProgress::refused}, Field{"bytes", &CycleProgress::bytes},
             Field{"state_bits", &CycleProgress::state_bits}, Field{"stop", &CycleProgress::stop});

  bind_rounds<CyclePart>(m, "CyclePart")
      .def(
          "start", [](CyclePart& p, int phase) { p.start(static_cast<CyclePhase>(phase)); }, "phase"_a)
      .def_prop_ro("first_alive",
                   [](const CyclePart& p) {
                     const Index first = p.first_alive();
                     return first == kNoIndex ? std::nullopt : std::optional(first);
                   })
      .def(
          "arcs_into",
          [](const CyclePart& p, Index index) {
            std::vector<std::tuple<int, Index, std::uint64_t>> out;
            for (const ArcFrom& arc : p.arcs_into(index)) out.emplace_back(arc.owner, arc.index, arc.marks);
            return out;
          },
          "index"_a)
      .def(
          "start_of", [](CyclePart& p, const nb::bytes& state) { return p.start_of(words_of(state, p.words()).data()); },
          "state"_a)
      .def(
          "step_between",
          [](CyclePart& p, const nb::bytes& before, const nb::bytes& after, std::uint64_t marks) {
            const LassoStep step = p.step_between(words_of(before, p.words()).data(), words_of(after, p.words()).data(), marks);
            return StepTuple(step.stutters ? -1 : static_cast<int>(step.step.kind), step.step.process, step.step.number);
          },
          "before"_a, "after"_a, "marks"_a);

  m.def(
      "part_for_cycles",
      [](std::shared_ptr<Machine> machine, int model, int bound, int initial, const std::vector<std::vector<EdgeTuple>>& edges,
         int marks, std::vector<int> atoms, const std::vector<ConditionTuple>& conditions, bool reduce, int number, int count,
         std::uint64_t round_states, std::uint64_t memory_bytes) {
        return part_for_cycles(std::move(machine), Model{static_cast<ModelKind>(model), bound}, reduce,
                               query_of(initial, edges, marks, std::move(atoms), conditions),
                               PartitionSize{number, count, round_states}, memory_bytes);
      },
      "machine"_a, "model"_a, "bound"_a, "initial"_a, "edges"_a, "marks"_a, "atoms"_a, "conditions"_a, "reduce"_a, "number"_a,
      "count"_a, "round_states"_a, "memory_bytes"_a, "One part of the search that `find_accepted_run` does on one machine.");
}

}  // namespace

void bind_cluster(nb::module_& m) {
  bind_cycles(m);

  def_record(m, "PartProgress", Field{"level", &PartProgress::level}, Field{"size", &PartProgress::size},
             Field{"left", &PartProgress::left}, Field{"states", &PartProgress::states},
             Field{"transitions", &PartProgress::transitions}, Field{"refused", &PartProgress::refused},
             Field{"bytes", &PartProgress::bytes}, Field{"state_bits", &PartProgress::state_bits},
             Field{"found_in", &PartProgress::found_in}, Field{"stop", &PartProgress::stop});

  def_record(m, "Counted", Field{"progress", &Counted::progress})
      .def(
          "__init__",
          [](Counted* out, std::uint64_t level, std::uint64_t size, std::uint64_t states, std::uint64_t transitions,
             std::uint64_t refused, const std::vector<std::pair<Index, int>>& arrivals, const std::vector<SeenTuple>& finals) {
            new (out) Counted(counted_again(level, size, states, transitions, refused, arrivals, finals));
          },
          "level"_a, "size"_a, "states"_a, "transitions"_a, "refused"_a, "arrivals"_a, "finals"_a)
      .def_prop_ro("finals", &finals_of)
      .def_prop_ro("arrivals", &arrivals_of);

  bind_rounds<Partition>(m, "Partition")
      .def("begin", &Partition::begin, nb::call_guard<Unlocked>())
      .def_prop_ro("finding", [](const Partition& p) { return tuple_of(p.finding()); })
      .def_prop_ro("race", &Partition::race)
      .def_prop_ro("attacks", &Partition::attacks)
      .def("path", &path_along, "chain"_a, "more"_a)
      .def(
          "rows",
          [](const Partition& p, Index begin, Index end) {
            return filled(p.row_size() * (end - begin), [&](char* out) { p.write_rows(begin, end, out); });
          },
          "begin"_a, "end"_a)
      .def(
          "restore",
          [](Partition& p, const nb::bytes& rows) {
            const std::string_view text = view(rows);
            const Unlocked unlocked;
            p.restore(text);
          },
          "rows"_a)
      .def_prop_ro("counted", &Partition::counted)
      .def_prop_ro("row_size", &Partition::row_size)
      .def("resume", &Partition::resume, "counted"_a);

  m.def(
      "partition_for_safety",
      [](std::shared_ptr<Machine> machine, int model, int bound, bool reduce, int bad, bool stop_on_failure,
         bool stop_on_deadlock, std::vector<int> final_values, int number, int count, std::uint64_t round_states,
         std::uint64_t memory_bytes) {
        const SafetyQuery query{bad, stop_on_failure, stop_on_deadlock, std::move(final_values)};
        return partition_for_safety(std::move(machine), Model{static_cast<ModelKind>(model), bound}, reduce, query,
                                    PartitionSize{number, count, round_states}, memory_bytes);
      },
      "machine"_a, "model"_a, "bound"_a, "reduce"_a, "bad"_a, "stop_on_failure"_a, "stop_on_deadlock"_a, "final_values"_a,
      "number"_a, "count"_a, "round_states"_a, "memory_bytes"_a,
      "One part of the search that `explore_safety` does on one machine.");

  m.def(
      "partition_for_races",
      [](std::shared_ptr<Machine> machine, bool triangular, int number, int count, std::uint64_t round_states,
         std::uint64_t memory_bytes) {
        return partition_for_races(std::move(machine), triangular, PartitionSize{number, count, round_states}, memory_bytes);
      },
      "machine"_a, "triangular"_a, "number"_a, "count"_a, "round_states"_a, "memory_bytes"_a,
      "One part of the search that `explore_races` does on one machine.");

  m.def(
      "partition_for_attacks",
      [](std::shared_ptr<Machine> machine, int criterion, bool collect, bool every_torn, int number, int count,
         std::uint64_t round_states, std::uint64_t memory_bytes) {
        const AttackSearch search{static_cast<Criterion>(criterion), collect, every_torn, {}, {}};
        return partition_for_attacks(std::move(machine), search, PartitionSize{number, count, round_states}, memory_bytes);
      },
      "machine"_a, "criterion"_a, "collect"_a, "every_torn"_a, "number"_a, "count"_a, "round_states"_a, "memory_bytes"_a,
      "One part of the search that `explore_attacks` does on one machine.");
}

}  // namespace memfence::bind
