// The symbolic engine, and its languages for differential tests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "symbolic/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace memfence::bind {

namespace {

using MoveTuple = std::tuple<Symbol, int>;
using DfaTuple = std::pair<std::vector<std::vector<MoveTuple>>, std::vector<bool>>;

DfaTuple tuple_of(const Dfa& dfa) {
  DfaTuple out;
  for (int q = 0; q < dfa.states(); ++q) {
    auto& row = out.first.emplace_back();
    for (const Dfa::Move& m : dfa.moves[static_cast<std::size_t>(q)]) row.emplace_back(m.symbol, m.target);
    out.second.push_back(dfa.accepting[static_cast<std::size_t>(q)] != 0);
  }
  return out;
}

// `moves[q]`: (symbol, target), any number a symbol; state 0 is initial.
Language language_of(Languages& languages, const std::vector<std::vector<MoveTuple>>& moves,
                     const std::vector<bool>& accepting) {
  Nfa nfa;
  for (const bool accepts : accepting) nfa.add_state(accepts);
  for (std::size_t q = 0; q < moves.size(); ++q)
    for (const auto& [symbol, target] : moves[q]) nfa.add_move(static_cast<int>(q), symbol, target);
  if (!accepting.empty()) nfa.add_initial(0);
  return languages.intern(nfa.minimal_dfa());
}

}  // namespace

void bind_symbolic(nb::module_& m) {
  nb::class_<SymbolicStats>(m, "SymbolicStats")
      .def_ro("states", &SymbolicStats::states)
      .def_ro("stored", &SymbolicStats::stored)
      .def_ro("transitions", &SymbolicStats::transitions)
      .def_ro("automata", &SymbolicStats::automata)
      .def_ro("largest_automaton", &SymbolicStats::largest_automaton)
      .def_ro("accelerations", &SymbolicStats::accelerations)
      .def_ro("depth", &SymbolicStats::depth)
      .def_ro("bytes", &SymbolicStats::bytes)
      .def_ro("seconds", &SymbolicStats::seconds);

  nb::class_<SymbolicOutcome>(m, "SymbolicOutcome")
      .def_prop_ro("stop", [](const SymbolicOutcome& o) { return static_cast<int>(o.stop); })
      .def_prop_ro("stats", [](const SymbolicOutcome& o) { return o.stats; })
      .def_prop_ro("finding",
                   [](const SymbolicOutcome& o) -> std::optional<int> {
                     return o.finding ? std::optional(static_cast<int>(*o.finding)) : std::nullopt;
                   })
      .def_ro("controls", &SymbolicOutcome::controls)
      .def_ro("plain", &SymbolicOutcome::plain)
      .def_prop_ro("final_values", [](const SymbolicOutcome& o) {
        return std::vector<std::vector<Value>>(o.final_values.begin(), o.final_values.end());
      });

  m.def(
      "explore_symbolic",
      [](std::shared_ptr<Machine> machine, bool partial, bool reduce, int bad, bool stop_on_failure, bool stop_on_deadlock,
         std::vector<int> final_values, std::uint64_t most_states, double timeout_seconds, std::uint64_t memory_bytes,
         std::shared_ptr<Cancel> cancel, nb::object progress) {
        Limits limits = make_limits(timeout_seconds, memory_bytes, std::move(cancel), progress);
        limits.most_states = most_states;
        const SafetyQuery query{bad, stop_on_failure, stop_on_deadlock, std::move(final_values)};
        const nb::gil_scoped_release unlocked;
        return explore_symbolic(*machine, partial ? StoreOrder::Partial : StoreOrder::Total, reduce, query, limits);
      },
      "machine"_a, "partial"_a, "reduce"_a, "bad"_a, "stop_on_failure"_a, "stop_on_deadlock"_a, "final_values"_a,
      "most_states"_a, "timeout_seconds"_a, "memory_bytes"_a, "cancel"_a.none(), "progress"_a.none(),
      "Explore sets of buffer contents, without bound, looking for bad states, failing steps and deadlocks.");

  nb::class_<Languages>(m, "Languages")
      .def(
          "__init__",
          [](Languages* l, bool partial, bool settles) {
            new (l) Languages(partial ? StoreOrder::Partial : StoreOrder::Total, settles);
          },
          "partial"_a, "settles"_a)
      .def("symbol", &Languages::symbol, "variable"_a, "value"_a)
      .def("language", &language_of, "moves"_a, "accepting"_a, "The language of a nondeterministic automaton, as it is.")
      .def(
          "dfa", [](const Languages& l, Language n) { return tuple_of(l.dfa(n)); }, "language"_a)
      .def("close", &Languages::close, "language"_a)
      .def("append", &Languages::append, "language"_a, "symbol"_a)
      .def("concatenate", &Languages::concatenate, "language"_a, "more"_a)
      .def("iterate", &Languages::iterate, "language"_a, "repeated"_a)
      .def("unite", &Languages::unite, "a"_a, "b"_a)
      .def("settle", &Languages::settle, "language"_a)
      .def("includes", &Languages::includes, "larger"_a, "smaller"_a)
      .def(
          "loads",
          [](Languages& l, Language n, int variable) {
            const Languages::Loads& parts = l.loads(n, variable);
            return std::pair(parts.own, parts.none);
          },
          "language"_a, "variable"_a)
      .def("restricted", &Languages::restricted, "language"_a, "variable"_a, "value"_a, "with_none"_a)
      .def(
          "commits",
          [](Languages& l, Language n) {
            std::vector<std::pair<Symbol, Language>> out;
            for (const Languages::Commit& c : l.commits(n)) out.emplace_back(c.symbol, c.rest);
            return out;
          },
          "language"_a)
      .def("without_separator", &Languages::without_separator, "language"_a);
}

}  // namespace memfence::bind
