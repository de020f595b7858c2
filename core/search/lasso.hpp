// A short lasso in a product whose accepting component is known: a way into it, and a loop inside that sees every mark.
//
// The shortest way into the component, then to a knot, and around from there. Where the loop is tied decides how long it
// is, so that the nearest places with a mark are all tried, as long as that is cheap. Run once or twice a search: nothing
// here need be fast.
#pragma once

#include <functional>
#include <stdexcept>
#include <unordered_set>

#include "search/product.hpp"

namespace memfence {

struct Lasso {
  std::vector<LassoStep> prefix, cycle;
  std::size_t length() const { return prefix.size() + cycle.size(); }
};

template <MemoryModel Semantics>
class LassoFinder {
 public:
  using Inside = std::function<bool(Index)>;

  explicit LassoFinder(Product<Semantics>& product) : product_(product), query_(product.query()) {}

  // After more than `patience` visits of states no further knot is tried.
  // The loop sees every one of the `needed` marks.
  Lasso find(Index root, const Inside& in_component, std::uint64_t needed, std::uint64_t patience) {
    needed_ = needed;
    std::vector<LassoStep> way;
    Index entry = root;
    if (!in_component(root))
      entry = shortest(
          root, way, kAnyLength, [](Index) { return true; }, [&](Index to, std::uint64_t) { return in_component(to); });
    Lasso best;
    std::size_t length = kAnyLength;
    for (const Index knot : knots(entry, in_component)) {
      Lasso lasso{way, {}};
      const auto left = [&] { return length == kAnyLength ? length : length - std::min(length, lasso.length()); };
      const auto is_knot = [&](Index to, std::uint64_t) { return to == knot; };
      if (knot != entry && shortest(entry, lasso.prefix, left(), in_component, is_knot) == kNoIndex) break;
      if (!go_around(knot, lasso.cycle, in_component, left)) continue;
      length = lasso.length();
      best = std::move(lasso);
      if (visits_ > patience) break;
    }
    if (length == kAnyLength) throw std::logic_error("an accepting component without the lasso that it promises");
    return best;
  }

 private:
  using Move = Product<Semantics>::Move;
  using Goal = std::function<bool(Index, std::uint64_t)>;  // of an arc: where it leads, and its marks
  static constexpr std::size_t kMostKnots = 32, kAnyLength = ~std::size_t{0};

  // The entry, and states of the component, nearest first, from where an arc with a mark of the automaton leads on inside it.
  std::vector<Index> knots(Index entry, const Inside& inside) {
    const std::uint64_t wanted = query_.marks == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << query_.marks) - 1;
    std::vector<Index> queue{entry}, found;
    std::unordered_set<Index> known{entry};
    for (std::size_t i = 0; i < queue.size() && found.size() < kMostKnots; ++i) {
      bool marked = false;
      product_.arcs_from(queue[i], [&](const Word* packed, std::uint64_t marks, const Move&) {
        const Index to = product_.find(packed);
        if (to == kNoIndex || !inside(to)) return;
        marked |= wanted == 0 || (marks & wanted) != 0;
        if (known.insert(to).second) queue.push_back(to);
      });
      if (marked || i == 0) found.push_back(queue[i]);
    }
    return found;
  }

  // A loop from `knot` that sees every mark: always on to the nearest arc with one that is missing, and back. False where
  // it takes more than left() steps.
  bool go_around(Index knot, std::vector<LassoStep>& cycle, const Inside& inside, const std::function<std::size_t()>& left) {
    Index at = knot;
    std::uint64_t missing = needed_;
    do {
      std::uint64_t seen = 0;
      const auto is_missing = [&](Index, std::uint64_t marks) { return missing == 0 || (marks & missing); };
      at = shortest(at, cycle, left(), inside, is_missing, &seen, knot);
      if (at == kNoIndex) return false;
      missing &= ~seen;
    } while (missing);
    return at == knot || shortest(at, cycle, left(), inside, [&](Index to, std::uint64_t) { return to == knot; }) != kNoIndex;
  }

  // Appends the shortest way from `from`, through states `inside`, to an arc that is a `goal`; where it takes more than
  // `most` steps, nothing, and gives kNoIndex. Of several such arcs that leave a state one to `preferred` is taken.
  Index shortest(Index from, std::vector<LassoStep>& steps, std::size_t most, const Inside& inside, const Goal& goal,
                 std::uint64_t* seen = nullptr, Index preferred = kNoIndex) {
    struct Visit {
      Index state;
      std::size_t before, depth;
      LassoStep step;
      std::uint64_t marks;
    };
    std::vector<Visit> visits{{from, 0, 0, {}, 0}};
    std::unordered_set<Index> known{from};
    for (std::size_t i = 0; i < visits.size() && visits[i].depth < most; ++i) {
      std::size_t found = 0;
      ++visits_;
      product_.arcs_from(visits[i].state, [&](const Word* packed, std::uint64_t marks, const Move& move) {
        const Index to = found && preferred == kNoIndex ? kNoIndex : product_.find(packed);
        if (to == kNoIndex || (found && to != preferred) || !inside(to)) return;
        const bool is_goal = goal(to, marks);
        if (found && !is_goal) return;
        if (!is_goal && !known.insert(to).second) return;
        visits.push_back({to, i, visits[i].depth + 1, {move.stutters, move.step}, marks});
        if (is_goal) found = visits.size() - 1;
      });
      if (!found) continue;
      std::vector<LassoStep> path;
      for (std::size_t j = found; j != 0; j = visits[j].before) {
        path.push_back(visits[j].step);
        if (seen) *seen |= visits[j].marks;
      }
      steps.insert(steps.end(), path.rbegin(), path.rend());
      return visits[found].state;
    }
    return kNoIndex;
  }

  Product<Semantics>& product_;
  const BuchiQuery& query_;
  std::uint64_t visits_ = 0, needed_ = 0;
};

}  // namespace memfence
