#include "certificate/ranks.hpp"

#include <algorithm>

#include "certificate/initial.hpp"

namespace memfence::certificate {

namespace {

constexpr std::size_t kNumber = 4;  // bytes of a node, and of a rank
constexpr std::size_t kMostPairs = 0xFFFFFFF0u;

std::uint32_t number_at(const unsigned char* bytes) {
  std::uint32_t number = 0;
  for (std::size_t n = 0; n < kNumber; ++n) number = number << 8 | bytes[n];
  return number;
}

}  // namespace

std::size_t RankChecker::bytes() const {
  return states_.bytes() + (first_.capacity() + nodes_.capacity() + ranks_.capacity()) * sizeof(std::uint32_t);
}

RankFinding RankChecker::found(RankCondition condition, std::size_t state, std::optional<Step> step) const {
  const unsigned char* row = states_.row(state);
  return {condition, std::string(row, row + width()), step};
}

RankFinding RankChecker::add(const unsigned char* block, std::size_t size) {
  const std::size_t width = this->width() + 2 * kNumber, count = size / width;
  if (count == 0 || count * width != size || pairs() + count > kMostPairs) return {RankCondition::Shape, "", {}};
  state_.resize(static_cast<std::size_t>(product_.layout().places()));
  std::vector<unsigned char> row(width);
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t byte = 0; byte < width; ++byte) row[byte] = block[byte * count + n];
    const RankCondition condition = add_row(row.data());
    if (condition != RankCondition::None) return {condition, "", {}};
  }
  return {};
}

// Rows stand in ascending order, so no pair has two ranks.
RankCondition RankChecker::add_row(const unsigned char* row) {
  const std::uint32_t node = number_at(row + width()), rank = number_at(row + width() + kNumber);
  const bool is_known = states_.size() > 0 && std::memcmp(row, states_.row(states_.size() - 1), width()) == 0;
  if (is_known) {
    if (node <= nodes_.back()) return RankCondition::Order;
  } else {
    if (!product_.layout().read(row, state_.data())) return RankCondition::Shape;
    if (!states_.append(row)) return RankCondition::Order;
    first_.push_back(static_cast<std::uint32_t>(pairs()));
  }
  if (node >= product_.refuting().nodes.size() || rank >= marks_.size()) return RankCondition::Absent;
  nodes_.push_back(node);
  ranks_.push_back(rank);
  return RankCondition::None;
}

RankFinding RankChecker::check() {
  states_.index();
  first_.push_back(static_cast<std::uint32_t>(pairs()));
  RankFinding finding = check_initial();
  for (std::size_t n = 0; n < states_.size() && finding.condition == RankCondition::None; ++n) {
    product_.layout().read(states_.row(n), state_.data());
    product_.enter(state_.data());
    for (std::size_t pair = first_[n]; pair < first_[n + 1] && finding.condition == RankCondition::None; ++pair)
      finding = check_pair(n, pair);
  }
  return finding;
}

// Condition 1: every pair that is reachable has a rank, from the first ones on.
RankFinding RankChecker::check_initial() {
  RankFinding finding;
  std::vector<unsigned char> row(width());
  for_each_initial(product_.program(), static_cast<std::size_t>(product_.layout().places()), [&](const Number* state) {
    const bool has_row = product_.layout().write(state, row.data());
    const std::size_t known = has_row ? states_.find(row.data()) : states_.size();
    if (known < states_.size() && find(known, product_.refuting().initial) < pairs()) return true;
    finding = {RankCondition::Initial, std::string(row.begin(), row.end()), {}};
    return false;
  });
  return finding;
}

// Conditions 2 to 4: every pair that a joint step leads to has a rank; none is higher; and a step within a rank does not visit
// its mark.
RankFinding RankChecker::check_pair(std::size_t state, std::size_t pair) {
  const int mark = marks_[ranks_[pair]];
  if (mark < 0 || mark >= product_.marks()) return found(RankCondition::Mark, state);
  std::vector<const Move*> possible;
  for (const Move& move : product_.refuting().nodes[nodes_[pair]])
    if (is_possible(move, product_.truth())) possible.push_back(&move);
  if (possible.empty()) return {};
  for (const Successor& successor : product_.successors()) {
    const std::size_t after = successor.row ? states_.find(product_.row(successor)) : states_.size();
    for (const Move* move : possible) {
      const std::size_t target = after < states_.size() ? find(after, move->target) : pairs();
      if (target >= pairs()) return found(RankCondition::Closed, state, successor.step);
      if (ranks_[target] > ranks_[pair]) return found(RankCondition::Grows, state, successor.step);
      if (ranks_[target] == ranks_[pair] && product_.visits(*move, successor, mark))
        return found(RankCondition::Stays, state, successor.step);
    }
  }
  return {};
}

std::size_t RankChecker::find(std::size_t state, int node) const {
  const auto begin = nodes_.begin() + first_[state], end = nodes_.begin() + first_[state + 1];
  const auto at = std::lower_bound(begin, end, static_cast<std::uint32_t>(node));
  return at != end && *at == static_cast<std::uint32_t>(node) ? static_cast<std::size_t>(at - nodes_.begin()) : pairs();
}

}  // namespace memfence::certificate
