// Where the backward search starts: constraints that describe exactly the bad configurations with empty FIFOs.
#pragma once

#include "dual/predecessor.hpp"

namespace memfence::dual {

// What is bad, as expressions over the machine's slots; -1: nothing of the kind.
struct Question {
  int bad = -1;        // over locations and registers
  int bad_final = -1;  // over memory, too, where every process has halted and nothing is pending
  bool failures = false;
  bool reduce = false;  // partial order reduction
  // [process][location]: locations with the same number are the same to both expressions
  std::vector<std::vector<int>> location_classes;
  Instances instances;
};

enum class Kind : std::int32_t { BadState, Failure, BadFinal };

struct Start {
  Kind kind;
  Constraint constraint;
  std::vector<std::vector<int>> bad;  // the bad states of each part, without those that silently become bad
  std::vector<int> processes;         // which process of the machine each part is
};

// False if a limit was hit on the way.
bool find_starts(const Machine& machine, Model& model, const Question& question, Watch& watch, std::vector<Start>& out);

}  // namespace memfence::dual
