// From constraints to a run: a chain of constraints, from an initial one to a bad one, as a run under ordinary TSO.
//
// The chain is walked forward with one concrete control state per process. What a constraint left open is filled in: which
// of its silent steps a process takes, and when each message of its FIFO is propagated. A message remembers the time at
// which it was propagated: the step that loads it happens then. The dual run so obtained is put into the order of TSO
// (timeline.hpp). Parts of a constraint become processes of the run; one that was dropped on the way backwards, since it
// may be at its start, comes in there.
#pragma once

#include "dual/start.hpp"
#include "dual/timeline.hpp"

namespace memfence::dual {

struct Witness {
  std::size_t start = 0;  // number of the initial state: of memory and the fixed processes
  std::vector<int> kinds;  // of each process of the run: the fixed ones first, then as many others as it needs
  std::vector<std::vector<Value>> registers;  // that each of them starts with
  std::vector<int> roles;  // which process of the machine each of them is in the bad state; -1: the bad state says nothing
  std::vector<TsoStep> steps;
  bool complete = false;  // false: the chain could not be followed, which is a fault of this engine
};

struct Link {
  Constraint before;
  Made made;
};

// `links[0]` holds an initial constraint; each leads to the next, the last one to `last`: that is where the search began,
// at `start`, without the parts that were `dropped`.
Witness make_witness(const Machine& machine, Model& model, const std::vector<Link>& links, const Constraint& last,
                     const Start& start, const std::vector<Dropped>& dropped);

}  // namespace memfence::dual
