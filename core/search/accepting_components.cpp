#include "search/accepting_components.hpp"

namespace memfence {

namespace {

// The states that `from` leads to by at least one edge.
std::vector<bool> reached_from(const BuchiQuery& query, std::size_t from) {
  std::vector<bool> reached(query.edges.size());
  std::vector<std::size_t> waiting{from};
  while (!waiting.empty()) {
    const std::size_t here = waiting.back();
    waiting.pop_back();
    for (const BuchiEdge& edge : query.edges[here]) {
      const auto to = static_cast<std::size_t>(edge.target);
      if (reached[to]) continue;
      reached[to] = true;
      waiting.push_back(to);
    }
  }
  return reached;
}

}  // namespace

// Automata have few states: for each, what it reaches.
std::vector<int> accepting_components(const BuchiQuery& query) {
  const std::size_t count = query.edges.size();
  const std::uint64_t all = query.marks == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << query.marks) - 1;
  std::vector<std::vector<bool>> reached;
  for (std::size_t state = 0; state < count; ++state) reached.push_back(reached_from(query, state));
  std::vector<int> component(count, -1);
  for (std::size_t first = 0; first < count; ++first) {
    if (component[first] >= 0 || !reached[first][first]) continue;
    const auto is_member = [&](std::size_t state) { return reached[first][state] && reached[state][first]; };
    std::uint64_t marks = 0;
    for (std::size_t state = 0; state < count; ++state)
      if (is_member(state))
        for (const BuchiEdge& edge : query.edges[state])
          if (is_member(static_cast<std::size_t>(edge.target))) marks |= edge.marks;
    if ((marks & all) != all) continue;
    for (std::size_t state = 0; state < count; ++state)
      if (is_member(state)) component[state] = static_cast<int>(first);
  }
  return component;
}

}  // namespace memfence
