// The symbolic engine, and its languages for differential tests.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "symbolic/search.hpp"

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
  using Stats = SymbolicStats;
  def_record(m, "SymbolicStats", Field{"states", &Stats::states}, Field{"stored", &Stats::stored},
             Field{"transitions", &Stats::transitions}, Field{"automata", &Stats::automata},
             Field{"largest_automaton", &Stats::largest_automaton}, Field{"accelerations", &Stats::accelerations},
             Field{"depth", &Stats::depth}, Field{"bytes", &Stats::bytes}, Field{"seconds", &Stats::seconds});

  def_record(m, "SymbolicOutcome", Field{"stop", &SymbolicOutcome::stop}, Field{"stats", &SymbolicOutcome::stats},
             Field{"finding", &SymbolicOutcome::finding}, Field{"controls", &SymbolicOutcome::controls},
             Field{"plain", &SymbolicOutcome::plain})
      .def_ro("rows", &SymbolicOutcome::rows)
      .def_prop_ro("languages",
                   [](const SymbolicOutcome& o) {
                     std::vector<DfaTuple> out;
                     for (const Dfa& dfa : o.languages) out.push_back(tuple_of(dfa));
                     return out;
                   })
      .def_prop_ro("symbols",
                   [](const SymbolicOutcome& o) {
                     std::vector<std::pair<int, Value>> out;
                     for (const Languages::Entry& e : o.symbols) out.emplace_back(e.variable, e.value);
                     return out;
                   })
      .def_prop_ro("final_values", [](const SymbolicOutcome& o) {
        return std::vector<std::vector<Value>>(o.final_values.begin(), o.final_values.end());
      });

  def_search(
      m, "explore_symbolic",
      +[](Limits limits, std::shared_ptr<Machine> machine, bool partial, bool reduce, int bad, bool stop_on_failure,
          bool stop_on_deadlock, std::vector<int> final_values, std::uint64_t most_states, bool keeps_rows) {
        limits.most_states = most_states;
        const SafetyQuery query{bad, stop_on_failure, stop_on_deadlock, std::move(final_values)};
        const StoreOrder order = partial ? StoreOrder::Partial : StoreOrder::Total;
        return explore_symbolic(*machine, order, reduce, query, limits, keeps_rows);
      },
      "Explore sets of buffer contents, without bound, looking for bad states, failing steps and deadlocks.", "machine"_a,
      "partial"_a, "reduce"_a, "bad"_a, "stop_on_failure"_a, "stop_on_deadlock"_a, "final_values"_a, "most_states"_a,
      "keeps_rows"_a);

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
