// Whether a run does what some run of SC does: the same steps in each process, and stores in the same order. As in
// `certificates/checker/sc_trace.py`, by a search over how far each process has come.
#pragma once

#include "certificate/runs.hpp"

namespace memfence::certificate {

constexpr std::size_t kMostPlaces = 1'000'000;

enum class ScTrace : std::uint8_t { None, Found, TooLong };

// `history`: of a run that did not fail and at whose end nothing is pending, by processes that only share memory; `start`: its first
// state. `by_values`: all stores come in the same order, and loads have the same values; else stores to each variable do, and loads
// read from the same stores. bad_alloc where the search needs more than `most_bytes`.
ScTrace find_sc_trace(const Program& program, const History& history, const std::vector<Number>& start, bool by_values,
                      std::size_t most_bytes);

}  // namespace memfence::certificate
