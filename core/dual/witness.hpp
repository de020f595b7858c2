// From constraints to a run: a chain of constraints, from an initial one to a bad one, as a run under ordinary TSO.
//
// The chain is walked forward with one concrete control state a process. What a constraint left open is filled in: which
// of its silent steps a process takes, and when each message of its FIFO is propagated. A message remembers the time at
// which it was propagated: the step that loads it happens then. The dual run so obtained is put into the order of TSO
// (timeline.hpp).
#pragma once

#include "dual/start.hpp"
#include "dual/timeline.hpp"

namespace memfence::dual {

struct Witness {
  std::size_t start = 0;  // number of the initial state
  std::vector<TsoStep> steps;
  bool complete = false;  // false: the chain could not be followed, which is a fault of this engine
};

struct Link {
  Constraint before;
  Made made;
};

// `links[0]` holds an initial constraint; each leads to the next, the last one to `last`. `bad` are the states that the
// search began with.
Witness make_witness(const Machine& machine, Model& model, const std::vector<Link>& links, const Constraint& last,
                     const std::vector<std::vector<int>>& bad);

}  // namespace memfence::dual
