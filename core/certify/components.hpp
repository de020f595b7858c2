// Strongly connected components of a graph over the numbers 0, 1, ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace memfence::certificate {

// The component of each of `count` nodes (Tarjan). A component comes after all that it leads to, so an edge between components
// goes from a higher number to a lower one. Edge number n leads to `target(n)`; those of a node are numbered from
// `first[node]` to `first[node + 1]`.
std::vector<std::uint32_t> components(std::size_t count, const std::vector<std::size_t>& first,
                                      const std::function<std::uint32_t(std::size_t)>& target);

}  // namespace memfence::certificate
