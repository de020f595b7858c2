// Symmetry of identical processes (docs/adr/0008): processes with the same code are interchangeable, so a state
// is stored with the local parts of each class in ascending order. The code is compared by engines/encode.py; initial
// values may differ, since a permutation of processes maps runs to runs wherever they start.
#pragma once

#include <numeric>
#include <vector>

#include "models/policy.hpp"

namespace memfence {

class Symmetry {
 public:
  // `buffers(p)` lists the slots of process p's buffers; those of identical processes match one by one.
  template <MemoryModel Semantics>
  Symmetry(const Machine& m, const Semantics& semantics) : classes_(m.symmetric), lock_slot_(m.lock_slot) {
    for (std::size_t p = 0; p < m.processes.size(); ++p) {
      const Process& process = m.processes[p];
      std::vector<int> slots(static_cast<std::size_t>(2 + process.registers));
      std::iota(slots.begin(), slots.end(), process.location_slot);
      const auto [first, count] = semantics.buffer_slots(static_cast<int>(p));
      for (int i = 0; i < count; ++i) slots.push_back(first + i);
      slots_.push_back(std::move(slots));
    }
  }

  bool is_trivial() const { return classes_.empty(); }

  // Sort the local parts of every class, logging the changes. With `who`, keep track of which process ended up where:
  // who[position] is exchanged along.
  void canonicalise(Work& w, std::vector<int>* who = nullptr) const {
    for (const auto& members : classes_)
      for (std::size_t i = 1; i < members.size(); ++i)
        for (std::size_t j = i; j > 0 && is_less(w, members[j], members[j - 1]); --j) {
          exchange(w, members[j], members[j - 1]);
          if (who) std::swap((*who)[static_cast<std::size_t>(members[j])], (*who)[static_cast<std::size_t>(members[j - 1])]);
        }
  }

 private:
  bool is_less(const Work& w, int p, int q) const {
    const auto& a = slots_[static_cast<std::size_t>(p)];
    const auto& b = slots_[static_cast<std::size_t>(q)];
    for (std::size_t i = 0; i < a.size(); ++i)
      if (w[a[i]] != w[b[i]]) return w[a[i]] < w[b[i]];
    return false;
  }
  void exchange(Work& w, int p, int q) const {
    const auto& a = slots_[static_cast<std::size_t>(p)];
    const auto& b = slots_[static_cast<std::size_t>(q)];
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Value mine = w[a[i]];
      w.set(a[i], w[b[i]]);
      w.set(b[i], mine);
    }
    if (lock_slot_ < 0) return;
    if (w[lock_slot_] == p + 1)
      w.set(lock_slot_, q + 1);
    else if (w[lock_slot_] == q + 1)
      w.set(lock_slot_, p + 1);
  }

  std::vector<std::vector<int>> classes_;
  int lock_slot_;
  std::vector<std::vector<int>> slots_;
};

}  // namespace memfence
