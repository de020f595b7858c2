// One part of a search that several machines share.
#include "cluster/partition.hpp"

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
  const nb::gil_scoped_release unlocked;
  fill(data);
  return out;
}

PathTuple path_along(const Partition& p, const std::vector<nb::bytes>& chain, const std::vector<StepTuple>& more) {
  std::vector<std::vector<Word>> states;
  for (const nb::bytes& state : chain) {
    const std::string_view text = view(state);
    if (text.size() != p.words() * sizeof(Word)) throw std::invalid_argument("a state of another size");
    std::memcpy(states.emplace_back(p.words()).data(), text.data(), text.size());
  }
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
  counted.standing = {
      .level = level, .size = size, .left = size, .states = states, .transitions = transitions, .refused = refused};
  for (const auto& [first, sender] : arrivals) counted.arrivals.push_back({first, sender});
  for (const auto& [values, count, depth, index] : finals) counted.finals[values] = {count, depth, index};
  return counted;
}

}  // namespace

void bind_cluster(nb::module_& m) {
  def_record(m, "Standing", Field{"level", &Standing::level}, Field{"size", &Standing::size}, Field{"left", &Standing::left},
             Field{"states", &Standing::states}, Field{"transitions", &Standing::transitions},
             Field{"refused", &Standing::refused}, Field{"bytes", &Standing::bytes}, Field{"state_bits", &Standing::state_bits},
             Field{"found_in", &Standing::found_in}, Field{"stop", &Standing::stop});

  def_record(m, "Counted", Field{"standing", &Counted::standing})
      .def(
          "__init__",
          [](Counted* out, std::uint64_t level, std::uint64_t size, std::uint64_t states, std::uint64_t transitions,
             std::uint64_t refused, const std::vector<std::pair<Index, int>>& arrivals, const std::vector<SeenTuple>& finals) {
            new (out) Counted(counted_again(level, size, states, transitions, refused, arrivals, finals));
          },
          "level"_a, "size"_a, "states"_a, "transitions"_a, "refused"_a, "arrivals"_a, "finals"_a)
      .def_prop_ro("finals", &finals_of)
      .def_prop_ro("arrivals", &arrivals_of);

  nb::class_<Partition>(m, "Partition")
      .def("begin", &Partition::begin, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "receive",
          [](Partition& p, int sender, const nb::bytes& message) {
            const std::string_view text = view(message);
            const nb::gil_scoped_release unlocked;
            p.receive(sender, text);
          },
          "sender"_a, "message"_a)
      .def("turn", &Partition::turn)
      .def("expand", &Partition::expand, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "message",
          [](Partition& p, int owner) {
            return filled(p.message_size(owner), [&](char* out) { p.write_message(owner, out); });
          },
          "owner"_a)
      .def_prop_ro("standing", [](const Partition& p) { return p.standing(); })
      .def_prop_ro("finding", [](const Partition& p) { return tuple_of(p.finding()); })
      .def(
          "state", [](const Partition& p, Index index) { return nb::bytes(p.state(index).data(), p.state(index).size()); },
          "index"_a)
      .def(
          "parent", [](const Partition& p, Index index) { return std::pair(p.parent(index).owner, p.parent(index).index); },
          "index"_a)
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
            const nb::gil_scoped_release unlocked;
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
}

}  // namespace memfence::bind
