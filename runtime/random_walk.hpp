// Executions at random, where there are too many to run them all: threads have priorities, which change at a few random
// steps (PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte 2010).
#pragma once

#include "findings.hpp"
#include "options.hpp"

namespace memfence::running {

// Returns false where something was learned: then all begins anew. `seconds`: what is left of the time.
bool walk_at_random(const Options& options, double seconds, Findings& findings, bool& out_of_time);

}  // namespace memfence::running
