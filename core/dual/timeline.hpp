// A run of the dual semantics in the order of TSO.
//
// Time is counted in changes of memory, which are the same in both worlds: a store of the dual run is the commit of that
// store. A step happens at the time of what it loads, which may long be past, and otherwise as early as its process allows.
#pragma once

#include <vector>

namespace memfence::dual {

struct TsoStep {
  int process;
  int edge;  // of the machine; -1: the oldest pending store of the process reaches memory
};

class Timeline {
 public:
  // One more process, which has done nothing so far.
  void add_process() {
    reached_.push_back(0);
    runs_.emplace_back();
  }

  int now() const { return static_cast<int>(changes_.size()); }

  // The process takes a step, not before `earliest`; `is_change`: a locked step that writes, which is itself a change.
  void take(int process, int edge, int earliest, bool is_change);
  // Memory changes: by a locked step just taken, or because the oldest pending store of the process commits.
  void change(int process, bool by_locked_step) { changes_.push_back({process, by_locked_step}); }

  // At each time first the steps of all processes, then the next change of memory.
  std::vector<TsoStep> in_order() const;

 private:
  struct Taken {
    int edge, time;
    bool is_change;
  };
  struct Change {
    int process;
    bool by_locked_step;
  };
  std::vector<int> reached_;  // per process: the time its last step happened at
  std::vector<std::vector<Taken>> runs_;
  std::vector<Change> changes_;
};

}  // namespace memfence::dual
