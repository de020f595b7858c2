// Which states of an automaton may come again and again in an accepted word.
#pragma once

#include <vector>

#include "search/emptiness.hpp"

namespace memfence {

// Of each state, the number of its strongly connected component, where the edges inside that have all marks; -1 for others.
std::vector<int> accepting_components(const BuchiQuery& query);

}  // namespace memfence
