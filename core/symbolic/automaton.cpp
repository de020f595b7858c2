#include "symbolic/automaton.hpp"

#include <algorithm>
#include <map>

#include "machine/index.hpp"

namespace memfence {

namespace {

constexpr std::size_t kMostStates = 20'000;

// Which states lead to acceptance.
std::vector<std::uint8_t> find_useful(const Dfa& dfa) {
  std::vector<std::vector<int>> before(dfa.accepting.size());
  std::vector<int> todo;
  std::vector<std::uint8_t> useful(dfa.accepting.size(), 0);
  for (int q = 0; q < dfa.states(); ++q) {
    for (const Dfa::Move& m : dfa.moves[at(q)]) before[at(m.target)].push_back(q);
    if (dfa.accepting[at(q)]) {
      useful[at(q)] = 1;
      todo.push_back(q);
    }
  }
  while (!todo.empty()) {
    const int q = todo.back();
    todo.pop_back();
    for (const int p : before[at(q)])
      if (!useful[at(p)]) {
        useful[at(p)] = 1;
        todo.push_back(p);
      }
  }
  return useful;
}

// Moore: split by acceptance, then by the classes that the moves lead to, until nothing splits. Moves to useless states
// count as missing, so that the partition is that of the trimmed automaton.
std::vector<int> find_classes(const Dfa& dfa, const std::vector<std::uint8_t>& useful) {
  std::vector<int> classes(dfa.accepting.begin(), dfa.accepting.end());
  std::size_t count = 0;
  while (true) {
    std::map<std::vector<int>, int> signatures;
    std::vector<int> refined(classes.size(), -1);
    for (int q = 0; q < dfa.states(); ++q) {
      if (!useful[at(q)]) continue;
      std::vector<int> signature{classes[at(q)]};
      for (const Dfa::Move& m : dfa.moves[at(q)])
        if (useful[at(m.target)]) {
          signature.push_back(m.symbol);
          signature.push_back(classes[at(m.target)]);
        }
      refined[at(q)] = signatures.emplace(std::move(signature), static_cast<int>(signatures.size())).first->second;
    }
    classes = std::move(refined);
    if (signatures.size() == count) return classes;
    count = signatures.size();
  }
}

}  // namespace

int Dfa::next(int state, Symbol symbol) const {
  const auto& row = moves[at(state)];
  const auto found = std::lower_bound(row.begin(), row.end(), symbol, [](const Move& m, Symbol s) { return m.symbol < s; });
  return found != row.end() && found->symbol == symbol ? found->target : -1;
}

Dfa minimise(const Dfa& dfa) {
  Dfa out;
  if (dfa.states() == 0) return out;
  const std::vector<std::uint8_t> useful = find_useful(dfa);
  if (!useful[0]) return out;
  const std::vector<int> classes = find_classes(dfa, useful);
  std::vector<int> number(classes.size(), -1);  // of a class, in the new automaton
  std::vector<int> member;                      // some old state of each new one
  const auto visit = [&](int q) {
    int& n = number[at(classes[at(q)])];
    if (n < 0) {
      n = static_cast<int>(member.size());
      member.push_back(q);
    }
    return n;
  };
  visit(0);
  for (std::size_t n = 0; n < member.size(); ++n) {
    out.accepting.push_back(dfa.accepting[at(member[n])]);
    auto& row = out.moves.emplace_back();
    for (const Dfa::Move& m : dfa.moves[at(member[n])])
      if (useful[at(m.target)]) row.push_back({m.symbol, visit(m.target)});
  }
  return out;
}

int Nfa::add_state(bool accepts) {
  moves_.emplace_back();
  silent_.emplace_back();
  accepting_.push_back(accepts);
  return static_cast<int>(accepting_.size()) - 1;
}

int Nfa::add_copy(const Dfa& dfa, bool keep_accepting) {
  const int first = static_cast<int>(accepting_.size());
  for (int q = 0; q < dfa.states(); ++q) add_state(keep_accepting && dfa.accepting[at(q)]);
  for (int q = 0; q < dfa.states(); ++q)
    for (const Dfa::Move& m : dfa.moves[at(q)]) add_move(first + q, m.symbol, first + m.target);
  return first;
}

void Nfa::close_silently(std::vector<int>& states) const {
  std::vector<std::uint8_t> seen(accepting_.size(), 0);
  for (const int q : states) seen[at(q)] = 1;
  for (std::size_t i = 0; i < states.size(); ++i)
    for (const int q : silent_[at(states[i])])
      if (!seen[at(q)]) {
        seen[at(q)] = 1;
        states.push_back(q);
      }
  std::sort(states.begin(), states.end());
}

Dfa Nfa::determinise() const {
  Dfa out;
  if (initial_.empty()) return out;
  std::map<std::vector<int>, int> numbers;
  std::vector<const std::vector<int>*> sets;  // map nodes never move
  const auto visit = [&](std::vector<int> states) {
    close_silently(states);
    const auto [place, is_new] = numbers.emplace(std::move(states), static_cast<int>(sets.size()));
    if (is_new) {
      if (sets.size() >= kMostStates) throw AutomatonTooLarge();
      sets.push_back(&place->first);
    }
    return place->second;
  };
  std::vector<int> start = initial_;
  std::sort(start.begin(), start.end());
  start.erase(std::unique(start.begin(), start.end()), start.end());
  visit(std::move(start));
  for (std::size_t n = 0; n < sets.size(); ++n) {
    std::map<Symbol, std::vector<int>> targets;
    bool accepts = false;
    for (const int q : *sets[n]) {
      accepts |= accepting_[at(q)] != 0;
      for (const Dfa::Move& m : moves_[at(q)]) targets[m.symbol].push_back(m.target);
    }
    out.accepting.push_back(accepts);
    auto& row = out.moves.emplace_back();
    for (auto& [symbol, set] : targets) {
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
      row.push_back({symbol, visit(std::move(set))});
    }
  }
  return out;
}

Dfa Nfa::minimal_dfa() const { return minimise(determinise()); }

}  // namespace memfence
