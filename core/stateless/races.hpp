// Happens-before among the steps of the present execution, and the races in it: the half of DPOR that knows no scheduling.
//
// Steps are numbered as they stand on the stack. Two steps are dependent if they are of one process or one writes what the
// other reads or writes. A clock counts, for each process, its steps that happen-before.
#pragma once

#include <cstdint>
#include <vector>

#include "stateless/footprint.hpp"

namespace memfence {

using Mask = std::uint64_t;
constexpr int kMostProcesses = 64;
inline Mask bit(int process) { return Mask{1} << process; }

class Races {
 public:
  Races(int processes, int variables)
      : processes_(static_cast<std::size_t>(processes)),
        last_write_(static_cast<std::size_t>(variables), -1),
        last_read_(static_cast<std::size_t>(variables) * processes_, -1),
        last_step_(processes_, -1) {}

  // A variable that is read or written by a step about to be added.
  struct Use {
    int variable;
    bool writes;
  };

  // Add step number `step` of `process`. It depends on all others if it `fails`.
  void push(int step, int process, const std::vector<Use>& touches, bool fails);
  void pop();

  // The steps that race with the one that `process` would take next: dependent, of others, with nothing between them. Also
  // fills the clock that the step would have.
  const std::vector<int>& races_of(int process, const std::vector<Use>& touches, bool fails);

  // Of the steps after `race` that do not happen after it, followed by the step of `process` just asked about: which
  // processes can start? `starts`: whether `process` itself can.
  Mask initials(int race, int process, bool& starts) const;

  int process_of(int step) const { return steps_[position_[static_cast<std::size_t>(step)]].process; }
  void clear();

 private:
  struct Step {
    int number, process;
    std::uint32_t index;  // the index-th of its process, from 1
    int previous;         // position of the process's last one before, or -1
    std::size_t undo;
  };
  struct Undo {
    int* place;
    int before;
  };

  bool before(std::size_t position, const std::uint32_t* clock) const {
    const Step& s = steps_[position];
    return clock[s.process] >= s.index;
  }
  const std::uint32_t* clock_of(std::size_t position) const { return &clocks_[position * processes_]; }
  void set(int& place, int value) {
    undo_.push_back({&place, place});
    place = value;
  }
  void gather(int process, const std::vector<Use>& touches, bool fails);

  std::size_t processes_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> clocks_;
  std::vector<std::size_t> position_;       // of a step number
  std::vector<int> last_write_, last_read_;  // positions
  std::vector<int> last_step_;
  std::vector<Undo> undo_;
  std::vector<int> candidates_, found_;
  std::vector<std::uint32_t> next_clock_;
};

}  // namespace memfence
