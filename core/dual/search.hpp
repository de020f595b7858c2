// The Dual-TSO engine: backward reachability for TSO with unbounded buffers, which always ends for finite-state programs.
//
// Abdulla, Atig, Bouajjani and Ngo, "The Benefits of Duality in Verifying Concurrent Programs under TSO" (CONCUR 2016).
// Instead of stores waiting to reach memory, each process has a FIFO of values waiting to be loaded. Read in this order:
//   local        what a process can do by itself (forward, values guessed)
//   process      the same with its own messages, stored backwards
//   sets         sets of its states
//   constraint   constraints and their order
//   predecessor  the dual semantics, backwards
//   start        the bad configurations
//   way          how one process gets from one of its states to another
//   witness      runs under ordinary TSO from what was found
// engines/dual.py says which programs and questions this covers.
#pragma once

#include <optional>

#include "dual/witness.hpp"

namespace memfence::dual {

struct Stats {
  std::uint64_t local_states = 0;    // of all processes
  std::uint64_t process_states = 0;  // the same with owned messages
  std::uint64_t sets = 0;
  std::uint64_t starts = 0;
  std::uint64_t expanded = 0;        // constraints whose predecessors were computed
  std::uint64_t predecessors = 0;
  std::uint64_t stored = 0;
  std::uint64_t minimal = 0;         // of these, above no other at the end
  std::uint64_t longest = 0;         // messages in one constraint
  std::uint64_t most_parts = 0;      // processes in one constraint
  std::uint64_t bytes = 0;
  double seconds = 0;
};

struct Outcome {
  Stop stop = Stop::None;  // None: every configuration that can lead to a bad one was looked at
  std::optional<Kind> finding;
  Witness witness;  // of a finding: a run under TSO
  Stats stats;
};

Outcome explore(const Machine& machine, const Question& question, const Limits& limits);

}  // namespace memfence::dual
