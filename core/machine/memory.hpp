// What a step asks of memory: the policy behind run_op, and nothing about searches.
//
// Five questions, and every part of the core that runs steps answers them in its own way: the memory models (models/),
// sets of buffer contents (symbolic/), an attacker's private view (attacks/), an exploration that keeps notes
// (accesses.hpp). All changes go through Work, so that the caller can undo them.
#pragma once

#include <concepts>

#include "machine/work.hpp"

namespace memfence {

enum class Outcome : std::uint8_t {
  Done,
  Blocked,  // not possible now
  Refused,  // only the bound of a buffer forbids it
  Failed,   // an assertion or a run-time error of the program under test
};

template <class Policy>
concept MemoryPolicy = requires(Policy& memory, Work& work, int process, int variable, Value value, Value& found) {
  // Whether the process reads its own newest pending store to the variable, and then which value; else it reads memory.
  { memory.own(work, process, variable, found) } -> std::same_as<bool>;
  // A plain store: into a buffer or, without one, into memory. Done, Blocked, or Refused by a bound.
  { memory.store(work, process, variable, value) } -> std::same_as<Outcome>;
  // Whether nothing of the process is pending: what an mfence, a locked step and the end of a lock region wait for.
  { memory.drained(work, process) } -> std::same_as<bool>;
  // An sfence: from here on no store overtakes those before it.
  { memory.separate(work, process) } -> std::same_as<Outcome>;
  // The process got past an mfence or began a locked step: for models that remember what happened since.
  memory.passed_fence(work, process);
};

}  // namespace memfence
