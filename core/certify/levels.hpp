// Ranks for the pairs of a product: levels, each with a mark that no step within it visits.
//
// Any numbering of the strongly connected components would do. Levels join components that have the same mark to spare: there
// are few of them, and small numbers pack well.
#pragma once

#include "certify/product_graph.hpp"

namespace memfence::certificate {

struct Levels {
  std::vector<std::uint32_t> of_pair;
  std::vector<int> marks;  // by level
};

// None if some component visits every mark: then a run is accepted, and there are no ranks.
std::optional<Levels> levels_of(const ProductGraph& graph);

}  // namespace memfence::certificate
