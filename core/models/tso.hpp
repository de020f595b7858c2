// Total store order with bounded buffers: the native twin of models/tso.py and models/bounded.py.
#pragma once

#include <algorithm>

#include "models/policy.hpp"

namespace memfence {

// TSO(k), or TSO/var(k) where `per_variable`: one FIFO a process, an entry is two slots (variable, value).
class Tso {
 public:
  Tso(const Machine& m, int bound, bool per_variable) : slots(m.slots), machine_(m), per_variable_(per_variable ? bound : 0) {
    for (const Process& p : m.processes) {
      const int capacity = per_variable ? bound * static_cast<int>(p.stored_variables.size()) : bound;
      capacity_.push_back(p.stored_variables.empty() ? 0 : capacity);
      first_.push_back(static_cast<int>(slots.size()));
      Slot variable, value;
      for (const int v : p.stored_variables) {
        variable.hi = std::max(variable.hi, Value{v});
        value.lo = std::min(value.lo, m.slots[static_cast<std::size_t>(v)].lo);
        value.hi = std::max(value.hi, m.slots[static_cast<std::size_t>(v)].hi);
      }
      for (int i = 0; i < capacity_.back(); ++i) {
        slots.push_back(variable);
        slots.push_back(value);
      }
      slots[static_cast<std::size_t>(p.pending_slot)] = Slot{0, capacity_.back()};
    }
  }

  std::vector<Slot> slots;

  bool own(const Work& w, int process, int variable, Value& value) const {
    const int first = first_[static_cast<std::size_t>(process)];
    for (int i = pending(w, process) - 1; i >= 0; --i)
      if (w[first + 2 * i] == variable) {
        value = w[first + 2 * i + 1];
        return true;
      }
    return false;
  }
  Outcome store(Work& w, int process, int variable, Value value) const {
    const int first = first_[static_cast<std::size_t>(process)], count = pending(w, process);
    if (count == capacity_[static_cast<std::size_t>(process)]) return Outcome::Refused;
    if (per_variable_ > 0) {
      int same = 0;
      for (int i = 0; i < count; ++i) same += w[first + 2 * i] == variable;
      if (same == per_variable_) return Outcome::Refused;
    }
    w.set(first + 2 * count, variable);
    w.set(first + 2 * count + 1, value);
    w.set(machine_.processes[static_cast<std::size_t>(process)].pending_slot, count + 1);
    return Outcome::Done;
  }
  bool drained(const Work& w, int process) const { return pending(w, process) == 0; }
  Outcome separate(Work&, int) const { return Outcome::Done; }
  void passed_fence(Work&, int) const {}
  void derive(Work&) const {}
  bool is_buffer_empty(const Work& w, int process, int) const { return drained(w, process); }
  bool drains(int, int, int) const { return true; }
  std::pair<int, int> buffer_slots(int process) const {
    return {first_[static_cast<std::size_t>(process)], 2 * capacity_[static_cast<std::size_t>(process)]};
  }

  template <class Emit>
  void background(Work& w, int process, Emit&& emit) const {
    const int count = pending(w, process);
    if (count == 0) return;
    const int first = first_[static_cast<std::size_t>(process)];
    w.set(static_cast<int>(w[first]), w[first + 1]);
    for (int i = 0; i < 2 * (count - 1); ++i) w.set(first + i, w[first + i + 2]);
    w.set(first + 2 * count - 2, 0);
    w.set(first + 2 * count - 1, 0);
    w.set(machine_.processes[static_cast<std::size_t>(process)].pending_slot, count - 1);
    emit(0);
  }

 private:
  int pending(const Work& w, int process) const {
    return static_cast<int>(w[machine_.processes[static_cast<std::size_t>(process)].pending_slot]);
  }
  const Machine& machine_;
  int per_variable_;
  std::vector<int> capacity_, first_;
};

static_assert(MemoryModel<Tso>);

}  // namespace memfence
