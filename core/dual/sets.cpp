#include "dual/sets.hpp"

#include <algorithm>

#include "machine/index.hpp"

namespace memfence::dual {

namespace {

void sort_unique(std::vector<int>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

Set Sets::close(std::vector<int> states) {
  sort_unique(states);
  std::vector<int> todo = states;
  std::set<int> added;
  while (!todo.empty()) {
    const int state = todo.back();
    todo.pop_back();
    for (const int before : graph_.silent[at(state)]) {
      if (std::binary_search(states.begin(), states.end(), before) || !added.insert(before).second) continue;
      todo.push_back(before);
    }
  }
  states.insert(states.end(), added.begin(), added.end());
  std::sort(states.begin(), states.end());
  return intern(std::move(states));
}

Set Sets::intern(std::vector<int> states) {
  if (states.empty()) return empty_set;
  const auto [place, fresh] = numbers_.try_emplace(std::move(states), static_cast<Set>(data_.size()));
  if (!fresh) return place->second;
  auto made = std::make_unique<Data>();
  made->states = place->first;
  made->owned = graph_.owned[at(made->states.front())];
  made->distance = INT32_MAX;
  made->known.resize(exclusive_);
  made->missing = ~std::uint64_t{0};
  for (const int s : made->states) {
    made->distance = std::min(made->distance, graph_.distance[at(s)]);
    made->missing &= ~(std::uint64_t{1} << (static_cast<unsigned>(s) % 64));
  }
  for (std::size_t i = 0; i < exclusive_; ++i) {
    const Value first = exclusive_value(made->states.front(), static_cast<int>(i));
    const bool agree = std::all_of(made->states.begin(), made->states.end(),
                                   [&](int s) { return exclusive_value(s, static_cast<int>(i)) == first; });
    if (agree) made->known[i] = first;
  }
  bytes_ += 2 * made->states.size() * sizeof(int) + 320;
  data_.push_back(std::move(made));
  return place->second;
}

Value Sets::exclusive_value(int state, int place) const {
  return local_.at(graph_.local[at(state)])[exclusive_at_ + at(place)];
}

bool Sets::includes(Set larger, Set smaller) {
  if (larger == smaller) return true;
  const Data &a = data(larger), &b = data(smaller);
  if (a.owned != b.owned || a.states.size() < b.states.size()) return false;
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(larger)} << 32 | static_cast<std::uint32_t>(smaller);
  const auto [place, fresh] = included_.try_emplace(key, false);
  if (fresh) {
    bytes_ += 32;
    place->second = std::includes(a.states.begin(), a.states.end(), b.states.begin(), b.states.end());
  }
  return place->second;
}

const std::vector<Sets::Move>& Sets::moves(Set set) {
  Data& d = data(set);
  if (d.has_moves) return d.moves;
  struct Group {
    std::vector<int> after;
    std::map<int, std::vector<int>> before;  // by sequence of owned messages
  };
  std::map<int, Group> groups;
  for (const int state : d.states)
    for (const ProcessGraph::Back& back : graph_.back[at(state)]) {
      Group& group = groups[back.label];
      group.after.push_back(state);
      group.before[graph_.owned[at(back.source)]].push_back(back.source);
    }
  std::vector<Move> moves;
  for (auto& [label, group] : groups) {
    Move move{label, empty_set, {}};
    sort_unique(group.after);
    move.after = intern(std::move(group.after));
    for (auto& [owned, states] : group.before) move.before.push_back(close(std::move(states)));
    moves.push_back(std::move(move));
  }
  d.moves = std::move(moves);
  d.has_moves = true;
  return d.moves;
}

const std::vector<Set>& Sets::undeleted(Set set) {
  Data& d = data(set);
  if (d.has_undeleted) return d.undeleted;
  std::map<int, std::vector<int>> groups;
  for (const int state : d.states)
    for (const int before : graph_.undeleted[at(state)]) groups[graph_.owned[at(before)]].push_back(before);
  for (auto& [owned, states] : groups) {
    const Set made = close(std::move(states));
    d.undeleted.push_back(made);
  }
  d.has_undeleted = true;
  return d.undeleted;
}

Set Sets::restrict(Set set, int place, Value value) {
  if (known(set, place) == value) return set;
  const auto found = data(set).restricted.find({place, value});
  if (found != data(set).restricted.end()) return found->second;
  std::vector<int> kept;
  for (const int s : data(set).states)
    if (exclusive_value(s, place) == value) kept.push_back(s);
  const Set made = intern(std::move(kept));
  data(set).restricted[{place, value}] = made;
  return made;
}

Set Sets::unite(Set a, Set b) {
  if (a == b || b == empty_set) return a;
  if (a == empty_set) return b;
  std::vector<int> both;
  std::set_union(data(a).states.begin(), data(a).states.end(), data(b).states.begin(), data(b).states.end(),
                 std::back_inserter(both));
  return intern(std::move(both));
}

bool Sets::loads_only(Set set) {
  if (data(set).loads_only < 0) {
    const auto is_load = [&](const Move& m) { return label(m.label).mode == Mode::Plain && label(m.label).only_reads(); };
    bool answer = std::all_of(moves(set).begin(), moves(set).end(), is_load);
    for (const Set before : undeleted(set)) answer = answer && loads_only(before);
    data(set).loads_only = answer ? 1 : 0;
  }
  return data(set).loads_only == 1;
}

bool Sets::has_initial(Set set, const std::vector<int>& initial) const {
  const auto& states = data(set).states;
  return std::any_of(initial.begin(), initial.end(),
                     [&](int s) { return std::binary_search(states.begin(), states.end(), s); });
}

}  // namespace memfence::dual
