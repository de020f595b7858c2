// Happens-before among the steps of the present execution, and the races in it: the half of DPOR that knows no scheduling.
//
// Steps are numbered as they stand on the stack. Two steps are dependent if they are of one thread or their accesses
// conflict. A clock counts, for each thread, its steps that happen-before.
#pragma once

#include <cstdint>
#include <vector>

namespace memfence {

using Mask = std::uint64_t;
constexpr int kMostThreads = 64;
inline Mask bit(int thread) { return Mask{1} << thread; }

class Races {
 public:
  explicit Races(int threads) : threads_(static_cast<std::size_t>(threads)), last_step_(threads_, -1) {}

  void ensure_addresses(int count) {
    const std::size_t places = static_cast<std::size_t>(count) * (threads_ + 1);
    if (places > last_.size()) last_.resize(places, -1);
  }

  // An address that is read or written by a step about to be added.
  struct Use {
    int address;
    bool writes;
  };

  // Add step number `step` of `thread`. It depends on all others if it `fails`.
  void push(int step, int thread, const std::vector<Use>& uses, bool fails);
  void pop();

  // The steps that race with the one that `thread` would take next: dependent, of others, with nothing between them. Also
  // fills the clock that the step would have.
  const std::vector<int>& races_of(int thread, const std::vector<Use>& uses, bool fails);

  // Of the steps after `race` that do not happen after it, followed by the step of `thread` just asked about: which threads
  // can start? `starts`: whether `thread` itself can.
  Mask initials(int race, int thread, bool& starts) const;

 private:
  struct Step {
    int number, thread;
    std::uint32_t index;  // the index-th of its thread, from 1
    int previous;         // position of the thread's last one before, or -1
    std::size_t undo;
  };
  struct Undo {
    std::size_t place;
    int before;
  };

  bool before(std::size_t position, const std::uint32_t* clock) const {
    const Step& s = steps_[position];
    return clock[s.thread] >= s.index;
  }
  const std::uint32_t* clock_of(std::size_t position) const { return &clocks_[position * threads_]; }
  // Where the position of the last write to an address stands in `last_`; the last reads of the threads follow.
  std::size_t written_at(int address) const { return static_cast<std::size_t>(address) * (threads_ + 1); }
  std::size_t read_at(int address, std::size_t thread) const { return written_at(address) + 1 + thread; }
  void gather(int thread, const std::vector<Use>& uses, bool fails);
  void merge_candidates();

  std::size_t threads_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> clocks_;
  std::vector<std::size_t> position_;  // of a step number
  std::vector<int> last_;              // positions
  std::vector<int> last_step_;
  std::vector<Undo> undo_;
  std::vector<int> candidates_, found_;
  std::vector<std::uint32_t> next_clock_;
};

}  // namespace memfence
