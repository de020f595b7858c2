// Ranked pairs as the rows of a certificate. Who makes them is not trusted: the checker is in `ranks.hpp`.
#pragma once

#include "certify/levels.hpp"

namespace memfence::certificate {

class Ranking {
 public:
  Ranking(const std::string& program, const Model& model, int capacity, Refuting refuting)
      : graph_(program, model, capacity, std::move(refuting)) {}

  std::size_t pairs() const { return graph_.pairs().size(); }
  std::size_t bytes() const { return graph_.bytes(); }
  // Explore at most so many more pairs; true once none is left.
  bool explore(std::size_t count) { return graph_.explore(count); }
  // Give every pair its rank; false if there are none, as some run of the product is accepted.
  bool rank();
  // The mark of each rank.
  const std::vector<int>& marks() const { return levels_.marks; }
  // The rows from number `first` on, in order, at most `count` of them: byte planes one behind the other.
  std::string block(std::size_t first, std::size_t count) const;

 private:
  ProductGraph graph_;
  Levels levels_;
  std::vector<std::uint32_t> sorted_;  // pairs in the order of their rows
};

}  // namespace memfence::certificate
