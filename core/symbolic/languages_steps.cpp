// What loads, commits and separators make of a set of buffer contents.
#include <set>

#include "machine/index.hpp"
#include "symbolic/languages.hpp"

namespace memfence {

// Walk the automaton together with "the newest value of the variable so far": words end in one of its values, or none.
const Languages::Loads& Languages::loads(Language l, int variable) {
  const auto found = loads_.find(key(l, variable));
  if (found != loads_.end()) return found->second;
  Loads result{{}, kNoWord};
  if (!mentions(l, variable)) {
    result.none = l;
  } else {
    const Dfa& dfa = this->dfa(l);
    using Place = std::pair<int, std::optional<Value>>;
    std::map<Place, int> numbers;
    std::vector<Place> places;
    const auto visit = [&](Place place) {
      const auto [where, is_new] = numbers.emplace(place, static_cast<int>(places.size()));
      if (is_new) places.push_back(place);
      return where->second;
    };
    visit({0, std::nullopt});
    Dfa product;
    std::set<std::optional<Value>> ends;
    for (std::size_t n = 0; n < places.size(); ++n) {
      const auto [q, newest] = places[n];
      auto& row = product.moves.emplace_back();
      for (const Dfa::Move& m : dfa.moves[at(q)]) {
        const Entry& e = entry(m.symbol);
        row.push_back({m.symbol, visit({m.target, e.variable == variable ? std::optional(e.value) : newest})});
      }
      if (dfa.accepting[at(q)]) ends.insert(newest);
    }
    for (const auto& end : ends) {
      product.accepting.clear();
      for (const auto& [q, newest] : places) product.accepting.push_back(dfa.accepting[at(q)] && newest == end);
      const Language part = intern(minimise(product));
      if (end)
        result.own.emplace_back(*end, part);
      else
        result.none = part;
    }
  }
  return loads_.emplace(key(l, variable), std::move(result)).first->second;
}

Language Languages::restricted(Language l, int variable, Value value, bool with_none) {
  const Loads& parts = loads(l, variable);
  Language result = kNoWord;
  for (const auto& [own, part] : parts.own)
    if (own == value) result = part;
  if (with_none && parts.none != kNoWord) result = unite(result, parts.none);
  return result;
}

Language Languages::commit_first(Language l, Symbol symbol) {
  const Dfa& dfa = this->dfa(l);
  const int target = dfa.next(0, symbol);
  if (target < 0) return kNoWord;
  Nfa nfa;
  nfa.add_initial(nfa.add_copy(dfa, true) + target);
  return intern(nfa);
}

// Two copies: before and after the store is taken out. Before, neither its variable nor a separator may be passed.
Language Languages::commit_overtaking(Language l, Symbol symbol) {
  const Dfa& dfa = this->dfa(l);
  const int variable = entry(symbol).variable;
  Nfa nfa;
  const int before = 0, after = dfa.states();
  for (int q = 0; q < 2 * dfa.states(); ++q) nfa.add_state(q >= after && dfa.accepting[at(q - after)]);
  for (int q = 0; q < dfa.states(); ++q)
    for (const Dfa::Move& m : dfa.moves[at(q)]) {
      nfa.add_move(after + q, m.symbol, after + m.target);
      if (m.symbol == symbol) nfa.add_silent(before + q, after + m.target);
      if (m.symbol != kSeparator && entry(m.symbol).variable != variable) nfa.add_move(before + q, m.symbol, before + m.target);
    }
  nfa.add_initial(before);
  return intern(nfa);
}

Language Languages::committed(Language l, Symbol symbol) {
  if (l == kNoWord || symbol == kSeparator) return kNoWord;
  const auto found = committed_.find(key(l, symbol));
  if (found != committed_.end()) return found->second;
  const Language rest = order_ == StoreOrder::Total ? commit_first(l, symbol) : commit_overtaking(l, symbol);
  committed_.emplace(key(l, symbol), rest);
  return rest;
}

const std::vector<Languages::Commit>& Languages::commits(Language l) {
  const auto found = commits_.find(l);
  if (found != commits_.end()) return found->second;
  std::vector<Commit> result;
  std::set<Symbol> candidates;
  const Dfa& dfa = this->dfa(l);
  if (order_ == StoreOrder::Total && dfa.states() > 0) {
    for (const Dfa::Move& m : dfa.moves[0]) candidates.insert(m.symbol);
  } else {
    for (const auto& row : dfa.moves)
      for (const Dfa::Move& m : row) candidates.insert(m.symbol);
  }
  for (const Symbol symbol : candidates) {
    const Language rest = committed(l, symbol);
    if (rest != kNoWord) result.push_back({symbol, settle(rest)});
  }
  return commits_.emplace(l, std::move(result)).first->second;
}

Language Languages::without_separator(Language l) {
  if (!has_separator(l)) return kNoWord;
  const auto [place, is_new] = without_separator_.emplace(l, kNoWord);
  if (is_new) place->second = commit_first(l, kSeparator);
  return place->second;
}

Language Languages::settle(Language l) {
  if (!settles_ || !has_separator(l) || this->dfa(l).next(0, kSeparator) < 0) return l;
  const auto found = settle_.find(l);
  if (found != settle_.end()) return found->second;
  Nfa nfa;
  const Dfa& dfa = this->dfa(l);
  const int copy = nfa.add_copy(dfa, true);
  const int start = nfa.add_state(dfa.accepting[0] != 0);
  for (const Dfa::Move& m : dfa.moves[0])
    if (m.symbol != kSeparator) nfa.add_move(start, m.symbol, copy + m.target);
  nfa.add_initial(start);
  nfa.add_initial(copy + dfa.next(0, kSeparator));
  const Language result = settle(intern(nfa));
  settle_.emplace(l, result);
  return result;
}

}  // namespace memfence
