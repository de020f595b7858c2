// Is there a fair loop in a component where some process could move and never does? (Streett acceptance; Emerson and Lei.)
//
// Such a process must not be able to move for ever, so the loop avoids the states where it can. What is left falls into
// smaller components, and each is asked again; every round leaves out a state, so there is an end.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "search/emptiness.hpp"

namespace memfence {

// States that are strongly connected among themselves, and the marks on the arcs between them.
struct FairPart {
  std::vector<Index> states;
  std::uint64_t inside = 0;
};

// A Graph as in component_search.hpp.
template <class Graph>
class StrongFairness {
 public:
  StrongFairness(Graph& graph, const std::vector<StrongPair>& pairs, std::uint64_t all_marks)
      : graph_(graph), pairs_(pairs), all_marks_(all_marks) {}

  // The parts of a component in which a loop is fair, or just one; the component has all marks, and sees those `inside`.
  std::vector<FairPart> fair_parts(std::vector<Index> component, std::uint64_t inside, bool one_is_enough) {
    std::vector<FairPart> waiting, fair;
    waiting.push_back({std::move(component), inside});
    while (!waiting.empty()) {
      FairPart part = std::move(waiting.back());
      waiting.pop_back();
      std::uint64_t stuck = 0;  // that processes could move which never do
      for (const StrongPair& pair : pairs_)
        if (!pair.is_met(part.inside)) stuck |= pair.could;
      if (stuck != 0) {
        divide(part.states, stuck, waiting);
        if (stop_ != Stop::None) return {};
        continue;
      }
      fair.push_back(std::move(part));
      if (one_is_enough) break;
    }
    return fair;
  }
  Stop stop() const { return stop_; }

 private:
  struct Arc {
    std::uint32_t target;
    std::uint64_t marks;
  };

  // Appends the components, with a loop and all marks, of the states whose arcs carry none of the marks `without`.
  void divide(const std::vector<Index>& states, std::uint64_t without, std::vector<FairPart>& found) {
    std::unordered_map<Index, std::uint32_t> number;
    for (const Index state : states)
      if (!(marks_of(state) & without)) number.emplace(state, static_cast<std::uint32_t>(number.size()));
    std::vector<Index> kept(number.size());
    for (const auto& [state, n] : number) kept[n] = state;
    std::vector<std::vector<Arc>> arcs(kept.size());
    for (std::size_t n = 0; n < kept.size(); ++n) {
      if (is_over()) return;
      graph_.known_arcs(kept[n], [&](Index to, std::uint64_t marks) {
        const auto known = to == kNoIndex ? number.end() : number.find(to);
        if (known != number.end()) arcs[n].push_back({known->second, marks});
      });
    }
    std::vector<std::vector<std::uint32_t>> members;
    const std::vector<std::uint32_t> component = components_of(arcs, members);
    for (std::size_t c = 0; c < members.size(); ++c) {
      std::uint64_t inside = 0;
      bool is_cycle = false;
      for (const std::uint32_t n : members[c])
        for (const Arc& arc : arcs[n]) {
          if (component[arc.target] != c) continue;
          inside |= arc.marks;
          is_cycle = true;
        }
      if (!is_cycle || (inside & all_marks_) != all_marks_) continue;
      FairPart part{{}, inside};
      for (const std::uint32_t n : members[c]) part.states.push_back(kept[n]);
      found.push_back(std::move(part));
    }
  }

  // What the arcs that leave the state say of it: the same on each, as far as `could` goes.
  std::uint64_t marks_of(Index state) {
    std::uint64_t seen = 0;
    if (is_over()) return seen;
    graph_.known_arcs(state, [&](Index, std::uint64_t marks) { seen |= marks; });
    return seen;
  }

  bool is_over() {
    if (++since_check_ % 1024 == 0) stop_ = graph_.stop(0, 0);
    return stop_ != Stop::None;
  }

  // Tarjan 1972, without recursion: the component of each node, and the members of each.
  static std::vector<std::uint32_t> components_of(const std::vector<std::vector<Arc>>& arcs,
                                                  std::vector<std::vector<std::uint32_t>>& members) {
    constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    const std::size_t count = arcs.size();
    std::vector<std::uint32_t> order(count, kNone), low(count, 0), component(count, kNone), open;
    std::vector<std::pair<std::uint32_t, std::size_t>> path;
    std::uint32_t clock = 0;
    const auto enter = [&](std::uint32_t n) {
      order[n] = low[n] = clock++;
      open.push_back(n);
      path.emplace_back(n, 0);
    };
    for (std::uint32_t root = 0; root < count; ++root) {
      if (order[root] != kNone) continue;
      enter(root);
      while (!path.empty()) {
        const std::uint32_t n = path.back().first;
        if (path.back().second < arcs[n].size()) {
          const std::uint32_t to = arcs[n][path.back().second++].target;
          if (order[to] == kNone)
            enter(to);
          else if (component[to] == kNone)
            low[n] = std::min(low[n], order[to]);
          continue;
        }
        path.pop_back();
        if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[n]);
        if (low[n] != order[n]) continue;
        members.emplace_back();
        std::uint32_t member;
        do {
          member = open.back();
          open.pop_back();
          component[member] = static_cast<std::uint32_t>(members.size() - 1);
          members.back().push_back(member);
        } while (member != n);
      }
    }
    return component;
  }

  Graph& graph_;
  const std::vector<StrongPair>& pairs_;
  std::uint64_t all_marks_;
  std::uint64_t since_check_ = 0;
  Stop stop_ = Stop::None;
};

}  // namespace memfence
