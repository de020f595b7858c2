// The words in which searches answer: states by their index, steps, findings, and what it cost.
#pragma once

#include <cstdint>
#include <vector>

namespace memfence {

// Of a state, in the order of discovery.
using Index = std::uint32_t;
inline constexpr Index kNoIndex = 0xFFFFFFFFu;

// An order of the states that a search has found, the same for any number of threads.
class StateOrder {
 public:
  virtual bool is_less(Index a, Index b) const = 0;

 protected:
  ~StateOrder() = default;
};

enum class StepKind : std::int32_t { Edge, Background };

struct Step {
  StepKind kind;
  int process;
  int number;  // Edge: its number in the machine; Background: as the semantics counts
};

struct Path {
  std::size_t start = 0;  // number of the initial state among the machine's
  std::vector<Step> steps;
  std::vector<int> who;  // which process stands at which place in the end: identical ones may have changed places
};

struct SearchStats {
  std::uint64_t states = 0, transitions = 0, refused = 0, depth = 0, widest = 0, bytes = 0, state_bits = 0;
  std::uint64_t failures = 0;  // steps that are an error of the program
  double seconds = 0;
};

enum class FindingKind : std::int32_t { Bad, Failure, Deadlock };

// Where the search ended: in the state `parent`, or by the step from it.
struct Finding {
  FindingKind kind;
  Index parent;
  bool has_step;
  Step step;
};

}  // namespace memfence
