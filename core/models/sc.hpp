// Sequential consistency: no buffers, a store is in memory at once. The native twin of models/sc.py.
#pragma once

#include "models/policy.hpp"

namespace memfence {

struct Sc {
  explicit Sc(const Machine& m) : slots(m.slots), machine(m) {}

  std::vector<Slot> slots;
  const Machine& machine;

  bool own(const Work&, int, int, Value&) const { return false; }
  Outcome store(Work& w, int process, int variable, Value value) const {
    const int lock = machine.lock_slot;
    if (lock >= 0 && w[lock] != 0 && w[lock] != process + 1) return Outcome::Blocked;
    w.set(variable, value);
    return Outcome::Done;
  }
  bool drained(const Work&, int) const { return true; }
  Outcome separate(Work&, int) const { return Outcome::Done; }
  void passed_fence(Work&, int) const {}
  void derive(Work&) const {}
  std::pair<int, int> buffer_slots(int) const { return {0, 0}; }  // first slot, number of slots
  bool is_buffer_empty(const Work&, int, int) const { return true; }
  bool drains(int, int, int) const { return true; }  // whether that background step takes from that buffer
  template <class Emit>
  void background(Work&, int, Emit&&) const {}
};

// SC that remembers, in the process's pending slot, the variable of its last store since a fence or locked step (+ 1;
// 0 = none): what triangular races are about.
struct ScLastStore : Sc {
  explicit ScLastStore(const Machine& m) : Sc(m) {
    for (const Process& p : m.processes) slots[static_cast<std::size_t>(p.pending_slot)] = Slot{0, m.variables};
  }
  Outcome store(Work& w, int process, int variable, Value value) const {
    const Outcome outcome = Sc::store(w, process, variable, value);
    if (outcome == Outcome::Done) set_last(w, process, variable + 1);
    return outcome;
  }
  void passed_fence(Work& w, int process) const { set_last(w, process, 0); }

 private:
  void set_last(Work& w, int process, Value value) const {
    w.set(machine.processes[static_cast<std::size_t>(process)].pending_slot, value);
  }
};

static_assert(MemoryModel<Sc> && MemoryModel<ScLastStore>);

}  // namespace memfence
