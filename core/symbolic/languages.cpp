#include "symbolic/languages.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "machine/index.hpp"

namespace memfence {

namespace {

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

Language Languages::append(Language l, Symbol symbol) {
  if (l == kNoWord) return kNoWord;
  return remembered(append_, key(l, symbol), [&] {
    Nfa nfa;
    const Dfa& first = dfa(l);
    const int copy = nfa.add_copy(first, false);
    const int end = nfa.add_state(true);
    for (int q = 0; q < first.states(); ++q)
      if (first.accepting[at(q)]) nfa.add_move(copy + q, symbol, end);
    nfa.add_initial(copy);
    return close(intern(nfa));
  });
}

Language Languages::concatenate(Language l, Language more) {
  if (l == kNoWord || more == kNoWord) return kNoWord;
  if (more == kDrained) return l;
  if (l == kDrained) return more;
  return remembered(concatenate_, key(l, more), [&] {
    Nfa nfa;
    const Dfa& first = dfa(l);
    const int left = nfa.add_copy(first, false), right = nfa.add_copy(dfa(more), true);
    for (int q = 0; q < first.states(); ++q)
      if (first.accepting[at(q)]) nfa.add_silent(left + q, right);
    nfa.add_initial(left);
    return close(intern(nfa));
  });
}

Language Languages::iterate(Language l, Language repeated) {
  if (l == kNoWord || repeated == kNoWord || repeated == kDrained) return l;
  return remembered(iterate_, key(l, repeated), [&] {
    Nfa nfa;
    const Dfa &first = dfa(l), &loop = dfa(repeated);
    const int left = nfa.add_copy(first, false), right = nfa.add_copy(loop, false), hub = nfa.add_state(true);
    for (int q = 0; q < first.states(); ++q)
      if (first.accepting[at(q)]) nfa.add_silent(left + q, hub);
    nfa.add_silent(hub, right);
    for (int q = 0; q < loop.states(); ++q)
      if (loop.accepting[at(q)]) nfa.add_silent(right + q, hub);
    nfa.add_initial(left);
    return close(intern(nfa));
  });
}

Language Languages::unite(Language a, Language b) {
  if (a == b || b == kNoWord) return a;
  if (a == kNoWord) return b;
  if (a > b) std::swap(a, b);
  return remembered(unite_, key(a, b), [&] {
    Nfa nfa;
    nfa.add_initial(nfa.add_copy(dfa(a), true));
    nfa.add_initial(nfa.add_copy(dfa(b), true));
    return intern(nfa);
  });
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

}  // namespace memfence
