#include "search/emptiness.hpp"

#include <algorithm>
#include <unordered_set>

#include "models/semantics.hpp"
#include "search/lasso.hpp"
#include "search/strong_fairness.hpp"

namespace memfence {

namespace {

template <MemoryModel Semantics>
class Emptiness {
 public:
  Emptiness(const Machine& m, Semantics semantics, bool reduce, const BuchiQuery& query, const Limits& limits)
      : starts_(m.initial.size()),
        product_(m, std::move(semantics), query, reduce),
        all_marks_(query.all_marks()),
        pairs_(query.strong_pairs()),
        watch_(limits) {}

  BuchiResult run() {
    BuchiResult result;
    for (std::size_t start = 0; start < starts_ && stop_ == Stop::None; ++start) {
      const Index root = product_.insert_initial(start);
      order_.resize(product_.count(), 0);
      if (order_[root] == 0) search(root);
      result.stats.states = product_.count();
      result.stats.transitions = transitions_;
      result.stats.refused = product_.refused();
      if (stop_ == Stop::Found) {
        result.start = start;
        Lasso lasso = find_lasso(root);
        look_nearby(root, lasso);
        result.prefix = std::move(lasso.prefix);
        result.cycle = std::move(lasso.cycle);
      }
    }
    result.stop = stop_;
    result.stats.seconds = watch_.seconds();
    result.stats.bytes = product_.bytes();
    result.stats.state_bits = product_.state_bits();
    return result;
  }

 private:
  static constexpr std::uint32_t kDead = 0xFFFFFFFFu;
  static constexpr std::uint64_t kNearby = 10'000;  // states to look at for a shorter lasso in any case: a blink

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
  using Move = Product<Semantics>::Move;

  void open(Index state, std::uint64_t entering) {
    order_[state] = ++clock_;
    live_.push_back(state);
    components_.push_back({clock_, 0, entering, false});
    const std::size_t first = arcs_.size();
    product_.arcs_from(state, [&](const Word* packed, std::uint64_t marks, const Move&) {
      ++transitions_;
      const Index to = product_.insert(packed);
      if (nearby_.empty() || is_nearby(to)) arcs_.push_back({to, marks});
    });
    order_.resize(product_.count(), 0);
    frames_.push_back({state, first, first});
  }

  void search(Index root) {
    std::uint64_t since_check = 0;
    open(root, 0);
    while (!frames_.empty()) {
      if (++since_check % 1024 == 0) {
        stop_ = watch_.check(product_.count(), transitions_, frames_.size(), bytes());
        if (stop_ == Stop::None && nearby_.empty()) stop_ = watch_.check_states(product_.count());
        if (stop_ != Stop::None) return;
      }
      Frame& frame = frames_.back();
      if (frame.next < arcs_.size()) {
        const Arc arc = arcs_[frame.next++];
        if (order_[arc.target] == 0) {
          open(arc.target, arc.marks);
        } else if (order_[arc.target] != kDead) {
          if (merge(order_[arc.target], arc.marks)) {
            stop_ = Stop::Found;
            return;
          }
        }
      } else {
        close();
        if (stop_ != Stop::None) return;
      }
    }
  }
  std::uint64_t bytes() const {
    return product_.bytes() + arcs_.capacity() * sizeof(Arc) + frames_.capacity() * sizeof(Frame) +
           components_.capacity() * sizeof(Component) + (order_.capacity() + live_.capacity()) * sizeof(Index);
  }

  // An arc back into an open component joins everything above it.
  bool merge(std::uint32_t target, std::uint64_t marks) {
    while (components_.back().root > target) {
      marks |= components_.back().inside | components_.back().entering;
      components_.pop_back();
    }
    components_.back().inside |= marks;
    components_.back().is_cycle = true;
    return is_fair(components_.back().inside);
  }

  bool is_fair(std::uint64_t inside) const {
    if ((inside & all_marks_) != all_marks_) return false;
    return std::all_of(pairs_.begin(), pairs_.end(), [&](const StrongPair& pair) { return pair.is_met(inside); });
  }
  // Whether leaving out states could give a fair component: it misses nothing else.
  bool may_have_fair_part(const Component& component) const {
    return !pairs_.empty() && component.is_cycle && (component.inside & all_marks_) == all_marks_;
  }

  void close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    arcs_.resize(frame.first);
    if (components_.back().root != order_[frame.state]) return;
    if (may_have_fair_part(components_.back())) {
      const auto first = std::find(live_.rbegin(), live_.rend(), frame.state).base() - 1;
      StrongFairness<Semantics> parts(product_, pairs_, all_marks_, watch_);
      part_ = parts.fair_part({first, live_.end()}, components_.back().inside);
      if (parts.stop() != Stop::None) stop_ = parts.stop();
      if (!part_.states.empty()) stop_ = Stop::Found;
      if (stop_ != Stop::None) return;
    }
    components_.pop_back();
    Index state;
    do {
      state = live_.back();
      live_.pop_back();
      order_[state] = kDead;
    } while (state != frame.state);
  }

  // The marks that a loop of a fair component sees: what moves inside goes on moving.
  std::uint64_t needed(std::uint64_t inside) const {
    std::uint64_t marks = all_marks_;
    for (const StrongPair& pair : pairs_) marks |= inside & pair.moved;
    return marks;
  }

  // In the component that the search ended with.
  Lasso find_lasso(Index root) {
    LassoFinder<Semantics> finder(product_);
    if (!part_.states.empty()) {
      const std::unordered_set<Index> states(part_.states.begin(), part_.states.end());
      return finder.find(root, [&](Index s) { return states.contains(s); }, needed(part_.inside), kNearby);
    }
    const std::uint32_t lowest = components_.back().root;
    const auto in_component = [&](Index s) {
      return s < order_.size() && order_[s] != kDead && order_[s] >= lowest && order_[s] != 0;
    };
    return finder.find(root, in_component, needed(components_.back().inside), kNearby);
  }

  bool is_nearby(Index state) const { return state < nearby_.size() && nearby_[state]; }

  // Replaces the lasso by a shorter one, if there is one among the nearest states: no more than were visited, or kNearby.
  void look_nearby(Index root, Lasso& lasso) {
    const std::uint64_t most = std::max(product_.count(), kNearby);
    std::vector<Index> nearest{root};
    std::size_t expanded = 0;
    nearby_.assign(product_.count(), false);
    nearby_[root] = true;
    for (std::uint64_t size = 1; size / 2 < most; size *= 2) {
      for (; expanded < nearest.size() && nearest.size() < size; ++expanded) note_neighbours(nearest[expanded], nearest);
      forget_search();
      search(root);
      const Stop why = stop_;
      stop_ = Stop::Found;  // whatever comes of it: there is the lasso that is known already
      if (why == Stop::None) continue;
      if (why != Stop::Found) return;  // a limit was hit: the first lasso is as good an answer
      Lasso nearer = find_lasso(root);
      if (nearer.length() < lasso.length()) lasso = std::move(nearer);
      return;
    }
  }
  void note_neighbours(Index state, std::vector<Index>& nearest) {
    product_.arcs_from(state, [&](const Word* packed, std::uint64_t, const Move&) {
      const Index to = product_.insert(packed);
      nearby_.resize(product_.count(), false);
      if (nearby_[to]) return;
      nearby_[to] = true;
      nearest.push_back(to);
    });
  }
  void forget_search() {
    stop_ = Stop::None;
    part_ = {};
    clock_ = 0;
    order_.assign(product_.count(), 0);
    live_.clear();
    frames_.clear();
    components_.clear();
    arcs_.clear();
  }

  std::size_t starts_;
  Product<Semantics> product_;
  std::uint64_t all_marks_;
  std::vector<StrongPair> pairs_;
  Watch watch_;

  std::uint64_t transitions_ = 0;
  std::uint32_t clock_ = 0;
  Stop stop_ = Stop::None;
  std::vector<std::uint32_t> order_;  // 0: not visited; kDead: its component is finished
  std::vector<Index> live_;
  std::vector<Frame> frames_;
  std::vector<Component> components_;
  std::vector<Arc> arcs_;
  FairPart part_;             // with strong fairness: where the search ended, if it was part of a component
  std::vector<bool> nearby_;  // where not empty: the only states to search
};

}  // namespace

BuchiResult find_accepted_run(const Machine& machine, const Model& model, bool reduce, const BuchiQuery& query,
                              const Limits& limits) {
  return with_semantics(machine, model, [&]<MemoryModel Semantics>(Semantics semantics) {
    return Emptiness<Semantics>(machine, std::move(semantics), reduce, query, limits).run();
  });
}

}  // namespace memfence
