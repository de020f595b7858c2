// Runs that are taken step by step, as `models/replay.py` does: each step is possible, or the run is none.
#pragma once

#include <memory>

#include "certificate/steps.hpp"

namespace memfence::certificate {

// What a run did: its accesses, in order, and for each step of a single process where they stand.
struct History {
  struct Own {
    int process;
    std::size_t first, last;    // of `events`, without the last
    bool had_bus, has_bus;  // the process holds the bus before, and behind it
  };
  std::vector<Event> events;
  std::vector<Own> steps;
};

class Replay {
 public:
  // Both have to stay.
  Replay(const Program& program, const Model& model);

  // Begin in initial state number `start`, in the order of `for_each_initial`; false: there is no such state.
  bool begin(std::uint64_t start);
  // Take a step; false where it does not exist, is not possible, or the program has failed and does not go on. Unsupported where more
  // stores are pending than there is room for.
  bool take(const Step& step);

  // Whether a step has failed so far.
  bool has_failed() const { return has_failed_; }
  const std::vector<Number>& state() const { return state_; }
  const History& history() const { return history_; }
  Steps& steps() { return *steps_; }
  const Layout& layout() const { return *layout_; }

 private:
  bool exists(const Step& step) const;
  bool exists(int process, int number) const;
  Outcome take_once(const Step& step);
  // Room for twice as many pending stores.
  void grow();
  void fail();

  const Program& program_;
  const Model& model_;
  int capacity_;
  std::unique_ptr<Layout> layout_;
  std::unique_ptr<Steps> steps_;
  std::vector<Number> state_;
  History history_;
  bool has_failed_ = false, has_ended_ = false;
};

}  // namespace memfence::certificate
