// Finite automata over the symbols of store buffers: built nondeterministically, kept minimal and deterministic.
//
// Nothing here knows what a symbol means. `minimal_dfa` gives equal automata for equal languages: subset construction,
// useless states removed, Moore's partition refinement, states numbered breadth-first in the order of symbols.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace memfence {

using Symbol = std::int32_t;

// An automaton grew beyond what any converging search needs: a limit was hit, not an error of the program under test.
struct AutomatonTooLarge : std::runtime_error {
  AutomatonTooLarge() : std::runtime_error("an automaton grew too large") {}
};

// A partial deterministic automaton: a symbol without a move rejects. State 0 is initial; no states: the empty language.
struct Dfa {
  struct Move {
    Symbol symbol;
    int target;
    auto operator<=>(const Move&) const = default;
  };
  std::vector<std::vector<Move>> moves;  // sorted by symbol
  std::vector<std::uint8_t> accepting;

  int states() const { return static_cast<int>(accepting.size()); }
  int next(int state, Symbol symbol) const;  // -1: none
  bool operator==(const Dfa&) const = default;
};

// A nondeterministic automaton under construction, with silent moves.
class Nfa {
 public:
  int add_state(bool accepts = false);
  void add_move(int from, Symbol symbol, int to) { moves_[static_cast<std::size_t>(from)].push_back({symbol, to}); }
  void add_silent(int from, int to) { silent_[static_cast<std::size_t>(from)].push_back(to); }
  void set_accepting(int state, bool accepts) { accepting_[static_cast<std::size_t>(state)] = accepts; }
  void add_initial(int state) { initial_.push_back(state); }
  // A copy of `dfa`, state by state; returns the number of its state 0.
  int add_copy(const Dfa& dfa, bool keep_accepting);

  Dfa minimal_dfa() const;

 private:
  Dfa determinise() const;
  void close_silently(std::vector<int>& states) const;

  std::vector<std::vector<Dfa::Move>> moves_;
  std::vector<std::vector<int>> silent_;
  std::vector<std::uint8_t> accepting_;
  std::vector<int> initial_;
};

// The one minimal automaton of the language of `dfa`.
Dfa minimise(const Dfa& dfa);

}  // namespace memfence
