// Sets of buffer contents: finite automata over pending stores, and what steps make of them. The same operations as in
// `certificates/checker/languages.py`, which says what a word is.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "certificate/program.hpp"

namespace memfence::certificate {

// Pending stores by number; number 0 is the separator.
using Symbol = int;
constexpr Symbol kSeparator = 0;

class Alphabet {
 public:
  Symbol number(Number variable, Number value);
  // The variable and the value of a store.
  const std::pair<Number, Number>& store(Symbol symbol) const { return stores_[static_cast<std::size_t>(symbol)]; }

 private:
  std::vector<std::pair<Number, Number>> stores_{{-1, 0}};
  std::map<std::pair<Number, Number>, Symbol> numbers_;
};

// The words that lead from one of `starts` to a node that accepts.
struct Words {
  std::vector<int> starts;
  std::vector<std::vector<std::pair<Symbol, int>>> moves;  // by node
  std::vector<char> accepting;                              // by node

  bool has_empty() const;
  bool has_any() const;
  int add_node();
  bool accepts(int node) const { return accepting[static_cast<std::size_t>(node)] != 0; }
  const std::vector<std::pair<Symbol, int>>& leaving(int node) const { return moves[static_cast<std::size_t>(node)]; }
};

// What a load finds among pending stores: the newest value, or nothing.
using Newest = std::optional<Number>;

Words empty_word();
Words not_empty(const Words& words);
// What loads of the variable may find in the words, nothing first.
std::vector<Newest> newest_values(const Words& words, const Alphabet& alphabet, int variable);
// The words in which a load of the variable finds `wanted`.
Words with_newest(const Words& words, const Alphabet& alphabet, int variable, const Newest& wanted);
Words append(const Words& words, const std::vector<Symbol>& word);
Words without_first(const Words& words, Symbol symbol);
// What is left once the first store to its variable, if it is `symbol`, leaves from behind stores to other variables.
Words overtaken(const Words& words, const Alphabet& alphabet, Symbol symbol);
// One separator in the place of several in a row.
Words merged(const Words& words);
// Without the separators that head the words.
Words settled(const Words& words);
// Whether every word of `smaller` is one of `larger`, which must be deterministic.
bool includes(const Words& larger, const Words& smaller);

}  // namespace memfence::certificate
