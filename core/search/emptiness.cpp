#include "search/emptiness.hpp"

#include <algorithm>

#include "models/semantics.hpp"
#include "search/lasso.hpp"

namespace memfence {

namespace {

template <MemoryModel Semantics>
class Emptiness {
 public:
  Emptiness(const Machine& m, Semantics semantics, const BuchiQuery& query, const Limits& limits)
      : starts_(m.initial.size()), product_(m, std::move(semantics), query), all_marks_(query.all_marks()), watch_(limits) {}

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
  };
  using Move = Product<Semantics>::Move;

  void open(Index state, std::uint64_t entering) {
    order_[state] = ++clock_;
    live_.push_back(state);
    components_.push_back({clock_, 0, entering});
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
    return components_.back().inside == all_marks_;
  }

  void close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    arcs_.resize(frame.first);
    if (components_.back().root != order_[frame.state]) return;
    components_.pop_back();
    Index state;
    do {
      state = live_.back();
      live_.pop_back();
      order_[state] = kDead;
    } while (state != frame.state);
  }

  // In the component that the search ended with.
  Lasso find_lasso(Index root) {
    const std::uint32_t lowest = components_.back().root;
    const auto in_component = [&](Index s) { return order_[s] != kDead && order_[s] >= lowest && order_[s] != 0; };
    return LassoFinder<Semantics>(product_).find(root, in_component, kNearby);
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
  Watch watch_;

  std::uint64_t transitions_ = 0;
  std::uint32_t clock_ = 0;
  Stop stop_ = Stop::None;
  std::vector<std::uint32_t> order_;  // 0: not visited; kDead: its component is finished
  std::vector<Index> live_;
  std::vector<Frame> frames_;
  std::vector<Component> components_;
  std::vector<Arc> arcs_;
  std::vector<bool> nearby_;  // where not empty: the only states to search
};

}  // namespace

BuchiResult find_accepted_run(const Machine& machine, const Model& model, const BuchiQuery& query, const Limits& limits) {
  return with_semantics(machine, model, [&]<MemoryModel Semantics>(Semantics semantics) {
    return Emptiness<Semantics>(machine, std::move(semantics), query, limits).run();
  });
}

}  // namespace memfence
