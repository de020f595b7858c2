#include "search/emptiness.hpp"

#include <algorithm>
#include <unordered_set>

#include "models/semantics.hpp"
#include "search/component_search.hpp"
#include "search/lasso.hpp"
#include "search/product_graph.hpp"

namespace memfence {

namespace {

// The product as it is found, for a search in depth; where some states are `nearby`, those alone.
template <MemoryModel Semantics>
class FoundOnTheWay {
 public:
  using Move = Product<Semantics>::Move;

  FoundOnTheWay(Product<Semantics>& product, const Limits& limits) : product_(product), watch_(limits) {}

  std::uint64_t count() const { return product_.count(); }
  template <class Use>
  void arcs_from(Index state, Use&& use) {
    product_.arcs_from(state, [&](const Word* packed, std::uint64_t marks, const Move&) {
      ++transitions_;
      const Index to = product_.insert(packed);
      if (nearby_.empty() || is_nearby(to)) use(to, marks);
    });
  }
  void prefetch(Index) const {}
  template <class Use>
  void known_arcs(Index state, Use&& use) {
    product_.arcs_from(state, [&](const Word* packed, std::uint64_t marks, const Move&) { use(product_.find(packed), marks); });
  }
  Stop stop(std::uint64_t queue, std::uint64_t bytes) {
    const Stop why = watch_.check(product_.count(), transitions_, queue, product_.bytes() + bytes);
    return why == Stop::None && nearby_.empty() ? watch_.check_states(product_.count()) : why;
  }

  std::uint64_t transitions() const { return transitions_; }
  double seconds() const { return watch_.seconds(); }

  // The state, and from then on those that become_nearby() was asked for.
  void begin_nearby(Index state) {
    nearby_.assign(product_.count(), false);
    nearby_[state] = true;
  }
  // Its neighbours; those that are new are appended.
  void become_nearby(Index state, std::vector<Index>& nearest) {
    product_.arcs_from(state, [&](const Word* packed, std::uint64_t, const Move&) {
      const Index to = product_.insert(packed);
      nearby_.resize(product_.count(), false);
      if (nearby_[to]) return;
      nearby_[to] = true;
      nearest.push_back(to);
    });
  }

 private:
  bool is_nearby(Index state) const { return state < nearby_.size() && nearby_[state]; }

  Product<Semantics>& product_;
  Watch watch_;
  std::uint64_t transitions_ = 0;
  std::vector<bool> nearby_;
};

constexpr std::uint64_t kNearby = 10'000;  // states to look at for a shorter lasso in any case: a blink

template <MemoryModel Semantics>
class Emptiness {
 public:
  Emptiness(const Machine& m, const Semantics& semantics, bool reduce, const BuchiQuery& query, const Limits& limits)
      : starts_(m.initial.size()),
        product_(m, semantics, query, reduce),
        graph_(product_, limits),
        search_(graph_, query, true) {}

  BuchiResult run() {
    BuchiResult result;
    for (std::size_t start = 0; start < starts_ && result.stop == Stop::None; ++start) {
      const Index root = product_.insert_initial(start);
      if (!search_.is_visited(root)) result.stop = search_.search(root);
      result.stats.states = product_.count();
      result.stats.transitions = graph_.transitions();
      result.stats.refused = product_.refused();
      if (result.stop != Stop::Found) continue;
      result.start = start;
      Lasso lasso = find_lasso(root);
      look_nearby(root, lasso);
      result.prefix = std::move(lasso.prefix);
      result.cycle = std::move(lasso.cycle);
    }
    result.stats.seconds = graph_.seconds();
    result.stats.bytes = product_.bytes();
    result.stats.state_bits = product_.state_bits();
    return result;
  }

 private:
  // In the component that the search ended with.
  Lasso find_lasso(Index root) {
    const FairPart& part = search_.found().front();
    const std::unordered_set<Index> inside(part.states.begin(), part.states.end());
    LassoFinder<Semantics> finder(product_);
    return finder.find(root, [&](Index s) { return inside.contains(s); }, search_.needed(part), kNearby);
  }

  // Replaces the lasso by a shorter one, if there is one among the nearest states: no more than were visited, or kNearby.
  void look_nearby(Index root, Lasso& lasso) {
    const std::uint64_t most = std::max(product_.count(), kNearby);
    std::vector<Index> nearest{root};
    std::size_t expanded = 0;
    graph_.begin_nearby(root);
    for (std::uint64_t size = 1; size / 2 < most; size *= 2) {
      for (; expanded < nearest.size() && nearest.size() < size; ++expanded) graph_.become_nearby(nearest[expanded], nearest);
      search_.forget();
      const Stop why = search_.search(root);
      if (why == Stop::None) continue;
      if (why != Stop::Found) return;  // a limit was hit: the first lasso is as good an answer
      Lasso nearer = find_lasso(root);
      if (nearer.length() < lasso.length()) lasso = std::move(nearer);
      return;
    }
  }

  std::size_t starts_;
  Product<Semantics> product_;
  FoundOnTheWay<Semantics> graph_;
  ComponentSearch<FoundOnTheWay<Semantics>> search_;
};

// The same with all states first, level by level, by several threads; each time that there are eight times as many and
// levels still grow, and in the end, the arcs are searched. What is found does not depend on the threads: levels are the same, so are the components, and
// one is chosen by its states.
template <MemoryModel Semantics>
class SharedEmptiness {
 public:
  SharedEmptiness(const Machine& m, const Semantics& semantics, bool reduce, const BuchiQuery& query, const Sharing& sharing,
                  const Limits& limits)
      : sharing_(sharing),
        limits_(limits),
        query_(query),
        graph_(m, semantics, query, reduce, limits, sharing.threads),
        roots_(graph_.insert_initial(m.initial.size())),
        product_(m, semantics, query, reduce) {}

  BuchiResult run() {
    BuchiResult result;
    std::uint64_t searched_from = kFirstSearch * sharing_.alone_states;
    while (result.stop == Stop::None && !graph_.is_complete()) {
      result.stop = graph_.run_level();
      if (result.stop != Stop::None) break;
      if (graph_.is_complete() || (graph_.states() >= searched_from && graph_.is_growing())) {
        result.stop = search(result);
        searched_from = kMoreStates * graph_.states();
      }
      if (result.stop == Stop::None && limits_.most_states && graph_.states() >= limits_.most_states)
        result.stop = Stop::States;
    }
    result.stats = graph_.stats();
    return result;
  }

 private:
  static constexpr std::uint64_t kFirstSearch = 4, kMoreStates = 8;  // times as many

  Stop search(BuchiResult& result) {
    ComponentSearch<ProductGraph<Semantics>> components(graph_, query_, false);
    for (std::uint64_t state = 0; state < graph_.count(); ++state) {
      const auto index = static_cast<Index>(state);
      if (!graph_.has_arcs(index) || components.is_visited(index)) continue;
      if (const Stop why = components.search(index); why != Stop::None) return why;
    }
    if (components.found().empty()) return Stop::None;
    const auto& [part, entry] = nearest(components.found());
    const std::vector<Index> way = way_to(entry);
    result.start = static_cast<std::size_t>(std::find(roots_.begin(), roots_.end(), way.front()) - roots_.begin());
    Lasso lasso = find_lasso(way, *part, components.needed(*part));
    result.prefix = std::move(lasso.prefix);
    result.cycle = std::move(lasso.cycle);
    return Stop::Found;
  }

  // The part with a state of the smallest depth, and that state; of several, the smallest one.
  std::pair<const FairPart*, Index> nearest(const std::vector<FairPart>& parts) const {
    std::vector<std::uint32_t> depths(graph_.count(), 0);
    std::pair<const FairPart*, Index> best{nullptr, kNoIndex};
    for (const FairPart& part : parts)
      for (const Index state : part.states) {
        const std::uint32_t depth = depth_of(state, depths);
        if (best.first) {
          const std::uint32_t least = depths[best.second];
          if (depth > least || (depth == least && !graph_.state_set().is_less(state, best.second))) continue;
        }
        best = {&part, state};
      }
    return best;
  }
  // Counted from 1; `known` has those that were asked for.
  std::uint32_t depth_of(Index state, std::vector<std::uint32_t>& known) const {
    std::vector<Index> chain;
    for (; state != kNoIndex && known[state] == 0; state = graph_.state_set().parent(state)) chain.push_back(state);
    std::uint32_t depth = state == kNoIndex ? 0 : known[state];
    for (auto each = chain.rbegin(); each != chain.rend(); ++each) known[*each] = ++depth;
    return depth;
  }
  // From an initial state on, this one included.
  std::vector<Index> way_to(Index state) const {
    std::vector<Index> way;
    for (; state != kNoIndex; state = graph_.state_set().parent(state)) way.push_back(state);
    std::reverse(way.begin(), way.end());
    return way;
  }

  // In a product that has the states of the part, and of a way to it.
  Lasso find_lasso(const std::vector<Index>& way, const FairPart& part, std::uint64_t needed) {
    for (const Index state : way) product_.insert(graph_.state_set().state(state));
    for (const Index state : part.states) product_.insert(graph_.state_set().state(state));
    LassoFinder<Semantics> finder(product_);
    return finder.find(0, [&](Index s) { return s + 1 >= way.size(); }, needed, kNearby);
  }

  const Sharing& sharing_;
  const Limits& limits_;
  const BuchiQuery& query_;
  ProductGraph<Semantics> graph_;
  std::vector<Index> roots_;
  Product<Semantics> product_;
};

template <MemoryModel Semantics>
BuchiResult search(const Machine& m, const Semantics& semantics, bool reduce, const BuchiQuery& query, const Sharing& sharing,
                   const Limits& limits) {
  const auto alone = [&](const Limits& some) { return Emptiness<Semantics>(m, semantics, reduce, query, some).run(); };
  double spent = 0;
  if (sharing.alone_states > 0) {
    Limits few = limits;
    if (few.most_states == 0 || few.most_states > sharing.alone_states) few.most_states = sharing.alone_states;
    BuchiResult result = alone(few);
    if (result.stop != Stop::States || few.most_states == limits.most_states) return result;
    spent = result.stats.seconds;
  }
  const Limits rest = limits.after(spent);
  BuchiResult result = SharedEmptiness<Semantics>(m, semantics, reduce, query, sharing, rest).run();
  spent += result.stats.seconds;
  if (result.stop == Stop::Memory) {  // a search in depth writes no arcs down
    result = alone(limits.after(spent));
    spent += result.stats.seconds;
  }
  result.stats.seconds = spent;
  return result;
}

}  // namespace

BuchiResult find_accepted_run(const Machine& machine, const Model& model, bool reduce, const BuchiQuery& query,
                              const Sharing& sharing, const Limits& limits) {
  return with_semantics(machine, model, [&]<MemoryModel Semantics>(const Semantics& semantics) {
    return search(machine, semantics, reduce, query, sharing, limits);
  });
}

}  // namespace memfence
