#include "execution/happens_path.hpp"

#include <algorithm>

namespace memfence {

namespace {

using Cost = std::uint64_t;
constexpr Cost kFar = ~Cost{0};
constexpr Cost kEvent = 1, kGap = Cost{1} << 32;

struct Best {
  Cost cost = kFar;
  std::size_t event = 0;

  void offer(Cost other_cost, std::size_t other_event) {
    if (other_cost < cost) *this = {other_cost, other_event};
  }
};

bool accesses(MemoryOp op) { return op == MemoryOp::Load || writes(op); }

}  // namespace

// One pass forwards. The cheapest way to an event comes from its own thread (over a plain store it costs a gap, if the
// event is a load) or from a conflicting access to its address. Program order and conflicts are transitive enough that
// the cheapest earlier event of each kind is all one has to remember.
std::vector<std::size_t> happens_path(std::span<const PastEvent> events, std::size_t from, std::size_t to) {
  std::uint32_t threads = 0, addresses = 0;
  for (std::size_t i = from; i <= to; ++i) {
    threads = std::max(threads, events[i].thread + 1);
    addresses = std::max(addresses, events[i].address + 1);
  }
  std::vector<Best> stored(threads), other(threads), written(addresses), accessed(addresses), best(to + 1 - from);
  const auto publish = [&](std::size_t i) {
    const PastEvent& e = events[i];
    const Cost cost = best[i - from].cost;
    if (cost == kFar) return;
    (e.op == MemoryOp::Store ? stored : other)[e.thread].offer(cost, i);
    if (writes(e.op)) written[e.address].offer(cost, i);
    if (accesses(e.op)) accessed[e.address].offer(cost, i);
  };
  for (std::size_t first = from; first <= to;) {
    std::size_t last = first;
    while (last < to && events[last + 1].step == events[first].step) ++last;
    Best cheapest;
    for (std::size_t i = first; i <= last; ++i) {
      const PastEvent& e = events[i];
      Best& mine = best[i - from];
      const auto come = [&](const Best& way, Cost more) {
        if (way.cost != kFar) mine.offer(way.cost + kEvent + more, way.event);
      };
      if (i == from) mine = {0, from};
      const bool is_load = loads(e.op);
      come(other[e.thread], 0);
      come(stored[e.thread], is_load ? kGap : 0);
      if (e.op == MemoryOp::Load && i != to) come(written[e.address], 0);
      if (writes(e.op)) come(accessed[e.address], 0);
      cheapest.offer(mine.cost, i);
    }
    if (cheapest.cost != kFar && first != last)
      for (std::size_t i = first; i <= last; ++i) best[i - from].offer(cheapest.cost + kEvent, cheapest.event);
    for (std::size_t i = first; i <= last; ++i) publish(i);
    first = last + 1;
  }
  std::vector<std::size_t> path;
  if (best[to - from].cost == kFar) return path;
  for (std::size_t i = to; i != from; i = best[i - from].event) path.push_back(i);
  path.push_back(from);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace memfence
