// The reachable pairs of a product, and the steps between them: for whoever looks for ranks. The checker needs none of this.
//
// The steps of a state are found once, however many nodes it is paired with.
#pragma once

#include <map>

#include "certificate/product.hpp"
#include "certificate/row_table.hpp"

namespace memfence::certificate {

using MarkSet = std::vector<std::uint64_t>;  // bits

class ProductGraph {
 public:
  struct Pair {
    std::uint32_t state, node;
    std::uint32_t before;  // the pair of the same state that was found before; kNoPair: none
  };
  static constexpr std::uint32_t kNoPair = 0xFFFFFFFFu;

  ProductGraph(const std::string& program, const Model& model, int capacity, Refuting refuting);

  const Product& product() const { return product_; }
  const RowTable& states() const { return states_; }
  const std::vector<Pair>& pairs() const { return pairs_; }
  std::size_t bytes() const;
  // Explore at most so many more pairs; true once none is left. Unsupported where a state has no row.
  bool explore(std::size_t count);

  // Edges of pair n: numbers from `first_edges()[n]` to `first_edges()[n + 1]`.
  const std::vector<std::size_t>& first_edges() const { return first_edges_; }
  std::uint32_t target(std::size_t edge) const { return edges_[edge].target; }
  // Add the marks that an edge visits.
  void add_marks(std::size_t edge, MarkSet& set) const;

 private:
  struct Edge {
    std::uint32_t target, move, met;
  };
  // Of a state of which a pair was explored: its successors, and what is true there.
  struct Known {
    std::size_t first_successor = 0;
    std::uint32_t successors = 0, truth = 0;
  };
  struct Reached {
    std::uint32_t state, met;
  };

  std::uint32_t state_of(const unsigned char* row);
  std::uint32_t pair_of(std::uint32_t state, int node);
  void explore_pair(Pair pair);
  void learn(std::uint32_t state);
  std::uint32_t met_by(const Successor& successor);
  const std::vector<std::uint32_t>& possible(std::uint32_t truth, std::uint32_t node);

  Product product_;
  std::vector<const Move*> moves_;        // of all nodes
  std::vector<std::uint32_t> first_moves_;  // by node
  std::vector<MarkSet> move_marks_;
  RowTable states_;
  std::vector<std::uint32_t> last_pair_;  // by state
  std::vector<Known> known_;              // by state
  std::vector<Reached> successors_;
  std::vector<Pair> pairs_;
  std::vector<Edge> edges_;
  std::vector<std::size_t> first_edges_{0};
  std::map<MarkSet, std::uint32_t> met_numbers_;
  std::vector<MarkSet> mets_;
  std::map<std::vector<char>, std::uint32_t> truth_numbers_;
  std::vector<std::vector<char>> truths_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> possible_;  // by truth and node
  std::vector<Number> state_;
};

}  // namespace memfence::certificate
