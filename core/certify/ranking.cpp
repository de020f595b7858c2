#include "certify/ranking.hpp"

#include <algorithm>
#include <numeric>

namespace memfence::certificate {

bool Ranking::rank() {
  std::optional<Levels> found = levels_of(graph_);
  if (!found) return false;
  levels_ = std::move(*found);
  // States are sorted by their bytes once, then pairs by the places of their states.
  const RowTable& states = graph_.states();
  std::vector<std::uint32_t> order(states.size()), place(states.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return states.row(a) < states.row(b); });
  for (std::size_t n = 0; n < order.size(); ++n) place[order[n]] = static_cast<std::uint32_t>(n);
  sorted_.resize(pairs());
  std::iota(sorted_.begin(), sorted_.end(), 0);
  std::sort(sorted_.begin(), sorted_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto &one = graph_.pairs()[a], &other = graph_.pairs()[b];
    return std::pair(place[one.state], one.node) < std::pair(place[other.state], other.node);
  });
  return true;
}

std::string Ranking::block(std::size_t first, std::size_t count) const {
  count = std::min(count, sorted_.size() - std::min(first, sorted_.size()));
  const std::size_t width = graph_.product().layout().width();
  std::string planes((width + 8) * count, '\0');
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint32_t pair = sorted_[first + n];
    const std::string_view row = graph_.states().row(graph_.pairs()[pair].state);
    for (std::size_t byte = 0; byte < width; ++byte) planes[byte * count + n] = row[byte];
    for (std::size_t byte = 0; byte < 4; ++byte) {
      const unsigned shift = 8 * (3 - static_cast<unsigned>(byte));
      planes[(width + byte) * count + n] = static_cast<char>(graph_.pairs()[pair].node >> shift);
      planes[(width + 4 + byte) * count + n] = static_cast<char>(levels_.of_pair[pair] >> shift);
    }
  }
  return planes;
}

}  // namespace memfence::certificate
