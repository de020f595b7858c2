// Acceleration: find cycles along the path to a new state, and replace the state by all that repeating them reaches.
//
// Two ways to a cycle. `detect` looks along the path for a state that differs from the new one in the buffer of a single
// process (2010 paper, section 4, `cycleCondition`), replays the events in between, and repeats what can be repeated.
// `apply_known` tries cycles that were found elsewhere, without going round them again.
#pragma once

#include "symbolic/known_cycles.hpp"
#include "symbolic/state_set.hpp"
#include "symbolic/steps.hpp"

namespace memfence {

// A state on its way into the store.
struct Reached {
  std::vector<Value> row;
  std::vector<Event> events;  // since the state it was reached from
  int mover;
  bool by_commit;
};

class Acceleration {
 public:
  Acceleration(const Machine& m, Languages& languages, const SymbolicSteps& steps, SymbolicStateSet& store)
      : machine_(m), languages_(languages), steps_(steps), states_(store), cycles_(languages), known_(m, cycles_) {}

  // Each returns whether it changed `reached`; then `reached.events` and `from` say how it is reached now.
  bool apply_known(Reached& reached);
  bool detect(Reached& reached, int group, int& from);

  std::uint64_t count() const { return count_; }

 private:
  // One step of a path: what happened, and where it led.
  struct Step {
    const Value* row;
    std::span<const Event> events;
    int mover;
  };
  using Path = std::vector<Step>;  // latest step first

  bool accelerate(Reached& reached, int& from, int start, int process, const Path& path);
  bool repeat(Reached& reached, int& from, int start, const Path& path, Cycle cycle);
  bool repeat_onwards(Reached& reached, Cycle cycle);
  void remember_rotations(const Path& path, int process);
  bool may_repeat(const Path& path, int process) const;
  bool is_local(const Path& path, int process) const;

  int processes() const { return static_cast<int>(machine_.processes.size()); }
  Language language(const Value* row, int p) const { return static_cast<Language>(row[steps_.language_slot(p)]); }
  void set_language(std::vector<Value>& row, int p, Language now) const {
    row[static_cast<std::size_t>(steps_.language_slot(p))] = now;
  }

  static constexpr std::size_t kLongestRotated = 64;

  const Machine& machine_;
  Languages& languages_;
  const SymbolicSteps& steps_;
  SymbolicStateSet& states_;
  Cycles cycles_;
  KnownCycles known_;
  std::uint64_t count_ = 0;
};

}  // namespace memfence
