// The fast checker of ranks: the conditions of `certificates/checker/ranks.py`, in the same order.
#pragma once

#include "certificate/product.hpp"
#include "certificate/row_set.hpp"

namespace memfence::certificate {

enum class RankCondition : std::uint8_t { None, Shape, Order, Absent, Mark, Initial, Closed, Grows, Stays };

// What was found: nothing wrong, or the first violated condition, the row of the state and the step that show it. No step:
// the run stands still.
struct RankFinding {
  RankCondition condition = RankCondition::None;
  std::string row;
  std::optional<Step> step;
};

// Ranked pairs that are being read, then judged. States are kept once, however many nodes they are paired with.
class RankChecker {
 public:
  // `marks`: the mark of each rank; one that does not exist is negative.
  RankChecker(const std::string& program, const Model& model, int capacity, Refuting refuting, std::vector<int> marks)
      : product_(program, model, capacity, std::move(refuting)), marks_(std::move(marks)), states_(product_.layout().width()) {}

  std::size_t width() const { return product_.layout().width(); }
  int marks() const { return product_.marks(); }
  std::size_t pairs() const { return nodes_.size(); }
  std::size_t bytes() const;
  // Take over a block of rows, byte planes one behind the other.
  RankFinding add(const unsigned char* block, std::size_t size);
  // Check all pairs.
  RankFinding check();

 private:
  RankCondition add_row(const unsigned char* row);
  RankFinding check_initial();
  RankFinding check_pair(std::size_t state, std::size_t pair);
  // The pair of a state and a node; `pairs()` if it has no rank.
  std::size_t find(std::size_t state, int node) const;
  RankFinding found(RankCondition condition, std::size_t state, std::optional<Step> step = {}) const;

  Product product_;
  std::vector<int> marks_;
  RowSet states_;
  std::vector<std::uint32_t> first_;  // by state: its first pair
  std::vector<std::uint32_t> nodes_, ranks_;
  std::vector<Number> state_;
};

}  // namespace memfence::certificate
