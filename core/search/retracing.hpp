// The states on a shortest way to one that a compact search has seen: found by searching again.
//
// The second search knows how deep the state is, and keeps relays about as often as the square root of that. Between two
// relays the way is found in the same manner: from one state only, and not far, so usually at little cost.
#pragma once

#include <cmath>
#include <functional>

#include "search/compact_search.hpp"

namespace memfence {

template <MemoryModel Semantics>
class Retracing {
 public:
  using States = std::vector<std::vector<Word>>;
  using IsIt = std::function<bool(std::uint64_t number, const std::vector<Word>& packed)>;

  Retracing(const Space<Semantics>& space, const Limits& limits, int threads)
      : space_(space), limits_(limits), threads_(threads) {}

  // From one of `starts` to the state in level `depth` that `is_it`: every state on the way.
  // Nothing: a limit was hit.
  States find(const States& starts, std::uint64_t depth, const IsIt& is_it) {
    const std::uint64_t spacing = depth <= kNear ? 1 : static_cast<std::uint64_t>(std::sqrt(static_cast<double>(depth)));
    States stations = search(starts, depth, spacing, is_it);
    if (spacing == 1 || stations.empty()) return stations;
    States way{stations.front()};
    for (std::size_t i = 1; i < stations.size(); ++i) {
      const std::uint64_t distance = std::min(spacing, depth - (i - 1) * spacing);
      const auto is_next = [&](std::uint64_t, const std::vector<Word>& state) { return state == stations[i]; };
      const States between = find({stations[i - 1]}, distance, is_next);
      if (between.empty()) return {};
      way.insert(way.end(), between.begin() + 1, between.end());
    }
    return way;
  }
  Stop stop() const { return stop_; }

 private:
  static constexpr std::uint64_t kNear = 4;

  States search(const States& starts, std::uint64_t depth, std::uint64_t spacing, const IsIt& is_it) {
    CompactSearch<Semantics, NoObserver> again(space_, NoObserver{}, limits_, threads_, spacing);
    stop_ = again.run(starts, depth);
    States stations;
    if (stop_ != Stop::None) return stations;
    again.find_in_level([&](std::uint64_t number, const std::vector<Word>& state, RecordFormat::Tag tag) {
      if (!is_it(number, state)) return false;
      stations = again.relays_to(tag);
      if (depth % spacing != 0) stations.push_back(state);  // else it is a relay itself
      return true;
    });
    return stations;
  }

  const Space<Semantics>& space_;
  const Limits& limits_;
  int threads_;
  Stop stop_ = Stop::None;
};

}  // namespace memfence
