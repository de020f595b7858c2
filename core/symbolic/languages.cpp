#include "symbolic/languages.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace memfence {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The automaton as bytes: equal for equal languages, since minimal automata have one numbering.
std::string fingerprint(const Dfa& dfa) {
  std::vector<std::int32_t> flat;
  for (int q = 0; q < dfa.states(); ++q) {
    flat.push_back(static_cast<std::int32_t>(dfa.moves[at(q)].size()) * 2 + dfa.accepting[at(q)]);
    for (const Dfa::Move& m : dfa.moves[at(q)]) {
      flat.push_back(m.symbol);
      flat.push_back(m.target);
    }
  }
  std::string bytes(flat.size() * sizeof(std::int32_t), '\0');
  if (!flat.empty()) std::memcpy(bytes.data(), flat.data(), bytes.size());
  return bytes;
}

int shortest_word(const Dfa& dfa) {
  if (dfa.states() == 0) return 0;
  std::vector<int> distance(at(dfa.states()), -1), queue{0};
  distance[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (dfa.accepting[at(queue[i])]) return distance[at(queue[i])];
    for (const Dfa::Move& m : dfa.moves[at(queue[i])])
      if (distance[at(m.target)] < 0) {
        distance[at(m.target)] = distance[at(queue[i])] + 1;
        queue.push_back(m.target);
      }
  }
  return 0;
}

}  // namespace

Languages::Languages(StoreOrder order, bool settles) : order_(order), settles_(settles) {
  entries_.push_back({-1, 0});  // the separator
  intern(Dfa{});
  Dfa drained;
  drained.moves.emplace_back();
  drained.accepting.push_back(1);
  intern(drained);
}

Symbol Languages::symbol(int variable, Value value) {
  const auto [place, is_new] = symbols_.emplace(Entry{variable, value}, static_cast<Symbol>(entries_.size()));
  if (is_new) entries_.push_back({variable, value});
  return place->second;
}

Language Languages::intern(const Dfa& minimal) {
  const auto [place, is_new] = numbers_.emplace(fingerprint(minimal), static_cast<Language>(languages_.size()));
  if (!is_new) return place->second;
  Interned interned{minimal, {}, false, shortest_word(minimal)};
  for (const auto& row : minimal.moves)
    for (const Dfa::Move& m : row) {
      if (m.symbol == kSeparator)
        interned.has_separator = true;
      else
        interned.variables.push_back(entry(m.symbol).variable);
    }
  std::sort(interned.variables.begin(), interned.variables.end());
  interned.variables.erase(std::unique(interned.variables.begin(), interned.variables.end()), interned.variables.end());
  largest_ = std::max(largest_, minimal.states());
  bytes_ += 2 * place->first.size() + 64 * at(minimal.states()) + 256;
  languages_.push_back(std::move(interned));
  return place->second;
}

Language Languages::of_word(const std::vector<Symbol>& word) {
  Dfa dfa;
  for (std::size_t i = 0; i <= word.size(); ++i) {
    auto& row = dfa.moves.emplace_back();
    if (i < word.size()) row.push_back({word[i], static_cast<int>(i) + 1});
    dfa.accepting.push_back(i == word.size());
  }
  return close(intern(dfa));
}

bool Languages::mentions(Language l, int variable) const {
  const auto& variables = languages_[at(l)].variables;
  return std::binary_search(variables.begin(), variables.end(), variable);
}

bool Languages::has_separator(Language l) const { return languages_[at(l)].has_separator; }

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

Language Languages::append(Language l, Symbol symbol) {
  if (l == kNoWord) return kNoWord;
  const auto found = append_.find(key(l, symbol));
  if (found != append_.end()) return found->second;
  Nfa nfa;
  const Dfa& dfa = this->dfa(l);
  const int copy = nfa.add_copy(dfa, false);
  const int end = nfa.add_state(true);
  for (int q = 0; q < dfa.states(); ++q)
    if (dfa.accepting[at(q)]) nfa.add_move(copy + q, symbol, end);
  nfa.add_initial(copy);
  const Language result = close(intern(nfa));
  append_.emplace(key(l, symbol), result);
  return result;
}

Language Languages::concatenate(Language l, Language more) {
  if (l == kNoWord || more == kNoWord) return kNoWord;
  if (more == kDrained) return l;
  if (l == kDrained) return more;
  const auto found = concatenate_.find(key(l, more));
  if (found != concatenate_.end()) return found->second;
  Nfa nfa;
  const Dfa& first = dfa(l);
  const int left = nfa.add_copy(first, false), right = nfa.add_copy(dfa(more), true);
  for (int q = 0; q < first.states(); ++q)
    if (first.accepting[at(q)]) nfa.add_silent(left + q, right);
  nfa.add_initial(left);
  const Language result = close(intern(nfa));
  concatenate_.emplace(key(l, more), result);
  return result;
}

Language Languages::iterate(Language l, Language repeated) {
  if (l == kNoWord || repeated == kNoWord || repeated == kDrained) return l;
  const auto found = iterate_.find(key(l, repeated));
  if (found != iterate_.end()) return found->second;
  Nfa nfa;
  const Dfa &first = dfa(l), &loop = dfa(repeated);
  const int left = nfa.add_copy(first, false), right = nfa.add_copy(loop, false), hub = nfa.add_state(true);
  for (int q = 0; q < first.states(); ++q)
    if (first.accepting[at(q)]) nfa.add_silent(left + q, hub);
  nfa.add_silent(hub, right);
  for (int q = 0; q < loop.states(); ++q)
    if (loop.accepting[at(q)]) nfa.add_silent(right + q, hub);
  nfa.add_initial(left);
  const Language result = close(intern(nfa));
  iterate_.emplace(key(l, repeated), result);
  return result;
}

Language Languages::unite(Language a, Language b) {
  if (a == b || b == kNoWord) return a;
  if (a == kNoWord) return b;
  if (a > b) std::swap(a, b);
  const auto found = unite_.find(key(a, b));
  if (found != unite_.end()) return found->second;
  Nfa nfa;
  nfa.add_initial(nfa.add_copy(dfa(a), true));
  nfa.add_initial(nfa.add_copy(dfa(b), true));
  const Language result = intern(nfa);
  unite_.emplace(key(a, b), result);
  return result;
}

bool Languages::includes(Language larger, Language smaller) {
  if (larger == smaller || smaller == kNoWord) return true;
  if (larger == kNoWord) return false;
  const auto found = includes_.find(key(larger, smaller));
  if (found != includes_.end()) return found->second != 0;
  const Dfa &big = dfa(larger), &small = dfa(smaller);
  std::set<std::pair<int, int>> seen{{0, 0}};
  std::vector<std::pair<int, int>> todo{{0, 0}};
  bool holds = true;
  while (holds && !todo.empty()) {
    const auto [p, q] = todo.back();
    todo.pop_back();
    if (small.accepting[at(q)] && !big.accepting[at(p)]) holds = false;
    for (const Dfa::Move& m : small.moves[at(q)]) {
      const int target = big.next(p, m.symbol);
      if (target < 0) {
        holds = false;  // every state of a minimal automaton leads to acceptance
        break;
      }
      if (seen.emplace(target, m.target).second) todo.emplace_back(target, m.target);
    }
  }
  includes_.emplace(key(larger, smaller), holds);
  return holds;
}

Language Languages::close(Language l) {
  const auto found = close_.find(l);
  if (found != close_.end()) return found->second;
  const Language result = order_ == StoreOrder::Total ? closed_total(l) : closed_partial(l);
  close_.emplace(l, result);
  close_.emplace(result, result);
  return result;
}

// A store may be left out where the next symbol is a store to the same variable: remember which one is owed.
Language Languages::closed_total(Language l) {
  const Dfa& dfa = this->dfa(l);
  const std::vector<int>& variables = languages_[at(l)].variables;
  const int states = dfa.states();
  const auto mode = [&](int variable) {
    return 1 + static_cast<int>(std::lower_bound(variables.begin(), variables.end(), variable) - variables.begin());
  };
  Nfa nfa;
  for (std::size_t owed = 0; owed <= variables.size(); ++owed)
    for (int q = 0; q < states; ++q) nfa.add_state(owed == 0 && dfa.accepting[at(q)]);
  for (int q = 0; q < states; ++q)
    for (const Dfa::Move& m : dfa.moves[at(q)]) {
      nfa.add_move(q, m.symbol, m.target);
      if (m.symbol == kSeparator) continue;
      const int owed = mode(entry(m.symbol).variable) * states;
      nfa.add_silent(q, owed + m.target);
      nfa.add_silent(owed + q, owed + m.target);
      nfa.add_move(owed + q, m.symbol, m.target);
    }
  if (states > 0) nfa.add_initial(0);
  return intern(nfa);
}

// A store may be left out where a later symbol of its segment stores to the same variable: remember the set that is owed.
// Separators in a row are one. Past a handful of variables the sets become too many; a language that is closed less is as
// exact, only less often equal to another.
Language Languages::closed_partial(Language l) {
  constexpr std::size_t kMostOwed = 6;
  const Dfa& dfa = this->dfa(l);
  const std::vector<int>& variables = languages_[at(l)].variables;
  const std::size_t tracked = std::min(variables.size(), kMostOwed);
  struct Place {
    int state, owed;
    bool separated;
    auto operator<=>(const Place&) const = default;
  };
  std::map<Place, int> numbers;
  std::vector<Place> places;
  Nfa nfa;
  const auto visit = [&](Place place) {
    const auto [where, is_new] = numbers.emplace(place, static_cast<int>(places.size()));
    if (is_new) {
      places.push_back(place);
      nfa.add_state(place.owed == 0 && dfa.accepting[at(place.state)]);
    }
    return where->second;
  };
  if (dfa.states() > 0) nfa.add_initial(visit({0, 0, false}));
  for (std::size_t n = 0; n < places.size(); ++n) {
    const auto [q, owed, separated] = places[n];
    const int here = static_cast<int>(n);
    for (const Dfa::Move& m : dfa.moves[at(q)]) {
      if (m.symbol == kSeparator) {
        if (owed != 0) continue;
        const int there = visit({m.target, 0, true});
        if (separated)
          nfa.add_silent(here, there);
        else
          nfa.add_move(here, kSeparator, there);
        continue;
      }
      const int variable = entry(m.symbol).variable;
      const auto index =
          at(static_cast<int>(std::lower_bound(variables.begin(), variables.end(), variable) - variables.begin()));
      const int bit = index < tracked ? 1 << index : 0;
      nfa.add_move(here, m.symbol, visit({m.target, owed & ~bit, false}));
      if (bit != 0) nfa.add_silent(here, visit({m.target, owed | bit, separated}));
    }
  }
  return intern(nfa);
}

}  // namespace memfence
