// Depth-first search for strongly connected components that have all marks (Couvreur 1999): each open component carries the
// union of the marks seen inside it. The first that has all of them ends the search, or all are found.
//
// A Graph has states with numbers below count(), which may grow while arcs are asked for:
//   arcs_from(state, use)    calls use(target, marks) for every arc;
//   prefetch(state)          says that its arcs may be asked for soon;
//   known_arcs(state, use)   the same, with kNoIndex for targets that have no number yet;
//   stop(queue, bytes)       why to stop now, if at all; asked every thousand states.
#pragma once

#include <algorithm>

#include "search/strong_fairness.hpp"

namespace memfence {

template <class Graph>
class ComponentSearch {
 public:
  ComponentSearch(Graph& graph, const BuchiQuery& query, bool one_is_enough)
      : graph_(graph), all_marks_(query.all_marks()), pairs_(query.strong_pairs()), one_is_enough_(one_is_enough) {}

  bool is_visited(Index state) const { return state < order_.size() && order_[state] != 0; }
  void forget() {
    found_.clear();
    clock_ = 0;
    order_.assign(graph_.count(), 0);
    live_.clear();
    frames_.clear();
    components_.clear();
    arcs_.clear();
  }

  // Everything that the state leads to and that was not visited. Found: one was enough, and there is one.
  Stop search(Index root) {
    std::uint64_t since_check = 0;
    open(root, 0);
    while (!frames_.empty()) {
      if (++since_check % 1024 == 0)
        if (const Stop why = graph_.stop(frames_.size(), bytes()); why != Stop::None) return why;
      Frame& frame = frames_.back();
      if (frame.next < arcs_.size()) {
        const Arc arc = arcs_[frame.next++];
        if (order_[arc.target] == 0)
          open(arc.target, arc.marks);
        else if (order_[arc.target] != kDead)
          merge(order_[arc.target], arc.marks);
        if (one_is_enough_ && is_fair(components_.back())) {
          note_component(components_.back());
          return Stop::Found;
        }
      } else if (const Stop why = close(); why != Stop::None) {
        return why;
      }
    }
    return Stop::None;
  }

  // Components, or parts of them, in which a loop is accepted.
  const std::vector<FairPart>& found() const { return found_; }
  // The marks that such a loop has to see.
  std::uint64_t needed(const FairPart& part) const {
    std::uint64_t marks = all_marks_;
    for (const StrongPair& pair : pairs_) marks |= part.inside & pair.moved;  // what moves inside goes on moving
    return marks;
  }

 private:
  static constexpr std::uint32_t kDead = 0xFFFFFFFFu;

  struct Arc {
    Index target;
    std::uint64_t marks;
  };
  struct Frame {
    Index state;
    std::size_t first, next;  // its arcs in `arcs_`
  };
  struct Component {
    std::uint32_t root;      // order of its first state
    std::uint64_t inside;    // marks on arcs inside
    std::uint64_t entering;  // marks of the arc that leads to it
    bool is_cycle;           // some arc leads from it back into it
  };

  void open(Index state, std::uint64_t entering) {
    if (order_.size() < graph_.count()) order_.resize(graph_.count(), 0);
    order_[state] = ++clock_;
    live_.push_back(state);
    components_.push_back({clock_, 0, entering, false});
    const std::size_t first = arcs_.size();
    graph_.arcs_from(state, [&](Index to, std::uint64_t marks) {
      if (to < order_.size()) __builtin_prefetch(&order_[to]);
      graph_.prefetch(to);
      arcs_.push_back({to, marks});
    });
    if (order_.size() < graph_.count()) order_.resize(graph_.count(), 0);
    frames_.push_back({state, first, first});
  }

  // An arc back into an open component joins everything above it.
  void merge(std::uint32_t target, std::uint64_t marks) {
    while (components_.back().root > target) {
      marks |= components_.back().inside | components_.back().entering;
      components_.pop_back();
    }
    components_.back().inside |= marks;
    components_.back().is_cycle = true;
  }

  bool has_all_marks(const Component& component) const {
    return component.is_cycle && (component.inside & all_marks_) == all_marks_;
  }
  bool is_fair(const Component& component) const {
    return has_all_marks(component) &&
           std::all_of(pairs_.begin(), pairs_.end(), [&](const StrongPair& pair) { return pair.is_met(component.inside); });
  }
  std::vector<Index> members(const Component& component) const { return {first_member(component), live_.end()}; }
  auto first_member(const Component& component) const {
    return std::partition_point(live_.begin(), live_.end(), [&](Index state) { return order_[state] < component.root; });
  }
  void note_component(const Component& component) { found_.push_back({members(component), component.inside}); }

  Stop close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    arcs_.resize(frame.first);
    const Component component = components_.back();
    if (component.root != order_[frame.state]) return Stop::None;
    if (is_fair(component)) {
      note_component(component);
    } else if (has_all_marks(component)) {  // leaving out states may give a fair part: it misses nothing else
      StrongFairness<Graph> parts(graph_, pairs_, all_marks_);
      for (FairPart& part : parts.fair_parts(members(component), component.inside, one_is_enough_))
        found_.push_back(std::move(part));
      if (parts.stop() != Stop::None) return parts.stop();
    }
    if (one_is_enough_ && !found_.empty()) return Stop::Found;
    components_.pop_back();
    const auto first = first_member(component);
    for (auto state = first; state != live_.end(); ++state) order_[*state] = kDead;
    live_.erase(first, live_.end());
    return Stop::None;
  }

  std::uint64_t bytes() const {
    return arcs_.capacity() * sizeof(Arc) + frames_.capacity() * sizeof(Frame) + components_.capacity() * sizeof(Component) +
           (order_.capacity() + live_.capacity()) * sizeof(Index);
  }

  Graph& graph_;
  std::uint64_t all_marks_;
  std::vector<StrongPair> pairs_;
  bool one_is_enough_;

  std::uint32_t clock_ = 0;
  std::vector<std::uint32_t> order_;  // 0: not visited; kDead: its component is finished
  std::vector<Index> live_;
  std::vector<Frame> frames_;
  std::vector<Component> components_;
  std::vector<Arc> arcs_;
  std::vector<FairPart> found_;
};

}  // namespace memfence
