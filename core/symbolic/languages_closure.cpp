// Closing under coalescing: languages.hpp says why words may be added.
#include <algorithm>

#include "machine/index.hpp"
#include "symbolic/languages.hpp"

namespace memfence {

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
