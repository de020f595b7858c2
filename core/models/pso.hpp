// Partial store order with bounded buffers: the native twin of models/pso.py and models/bounded.py.
#pragma once

#include <algorithm>

#include "models/policy.hpp"

namespace memfence {

// PSO(k): one FIFO a process and stored variable. A buffer is its length, then `bound` values and, where the process has
// sfences, `bound` marks: 1 for a separator, whose value is 0. `pending_slot` is the sum of the lengths: derived, not stored.
class Pso {
 public:
  Pso(const Machine& m, int bound) : slots(m.slots), machine_(m), bound_(bound) {
    for (const Process& p : m.processes) {
      first_.push_back(static_cast<int>(slots.size()));
      for (const int v : p.stored_variables) {
        Slot value = m.slots[static_cast<std::size_t>(v)];
        value.lo = std::min(value.lo, Value{0});
        value.hi = std::max(value.hi, Value{0});
        slots.push_back(Slot{0, bound});
        for (int i = 0; i < bound; ++i) slots.push_back(value);
        for (int i = 0; p.uses_sfence && i < bound; ++i) slots.push_back(Slot{0, 1});
      }
      slots[static_cast<std::size_t>(p.pending_slot)].stored = false;
    }
  }

  std::vector<Slot> slots;

  bool own(const Work& w, int process, int variable, Value& value) const {
    const Process& p = machine_.processes[static_cast<std::size_t>(process)];
    for (std::size_t b = 0; b < p.stored_variables.size(); ++b) {
      if (p.stored_variables[b] != variable) continue;
      const int buffer = at(process, b);
      for (int i = length_of(w, buffer); i >= 1; --i)
        if (!is_separator(w, p, buffer + i)) {
          value = w[buffer + i];
          return true;
        }
      return false;
    }
    return false;
  }
  Outcome store(Work& w, int process, int variable, Value value) const {
    const Process& p = machine_.processes[static_cast<std::size_t>(process)];
    for (std::size_t b = 0; b < p.stored_variables.size(); ++b)
      if (p.stored_variables[b] == variable) return append(w, process, b, value, 0);
    return Outcome::Blocked;
  }
  bool drained(const Work& w, int process) const {
    return w[machine_.processes[static_cast<std::size_t>(process)].pending_slot] == 0;
  }
  void passed_fence(Work&, int) const {}
  Outcome separate(Work& w, int process) const {
    const std::size_t buffers = machine_.processes[static_cast<std::size_t>(process)].stored_variables.size();
    for (std::size_t b = 0; b < buffers; ++b) {
      const Outcome outcome = append(w, process, b, 0, 1);
      if (outcome != Outcome::Done) return outcome;
    }
    return Outcome::Done;
  }
  void derive(Work& w) const {
    for (std::size_t p = 0; p < machine_.processes.size(); ++p) {
      const std::size_t buffers = machine_.processes[p].stored_variables.size();
      Value sum = 0;
      for (std::size_t b = 0; b < buffers; ++b) sum += w[at(static_cast<int>(p), b)];
      w.data()[machine_.processes[p].pending_slot] = sum;
    }
  }

  bool is_buffer_empty(const Work& w, int process, int buffer) const {
    return w[at(process, static_cast<std::size_t>(buffer))] == 0;
  }
  bool drains(int number, int process, int buffer) const {
    const std::size_t buffers = machine_.processes[static_cast<std::size_t>(process)].stored_variables.size();
    return number == buffer || number == static_cast<int>(buffers);
  }
  std::pair<int, int> buffer_slots(int process) const {
    const std::size_t buffers = machine_.processes[static_cast<std::size_t>(process)].stored_variables.size();
    return {first_[static_cast<std::size_t>(process)], static_cast<int>(buffers) * size_of_buffer(process)};
  }

  // emit(b): buffer b commits; emit(number of buffers): the separator leaves all of them.
  template <class Emit>
  void background(Work& w, int process, Emit&& emit) const {
    const Process& p = machine_.processes[static_cast<std::size_t>(process)];
    const std::size_t buffers = p.stored_variables.size();
    const std::size_t mark = w.mark();
    bool all_separated = buffers > 0;
    for (std::size_t b = 0; b < buffers; ++b) {
      const int buffer = at(process, b);
      const bool separated = w[buffer] > 0 && is_separator(w, p, buffer + 1);
      all_separated &= separated;
      if (w[buffer] == 0 || separated) continue;
      w.set(p.stored_variables[b], w[buffer + 1]);
      pop(w, process, b);
      emit(static_cast<int>(b));
      w.rollback(mark);
    }
    if (!all_separated) return;
    for (std::size_t b = 0; b < buffers; ++b) pop(w, process, b);
    emit(static_cast<int>(buffers));
  }

 private:
  int at(int process, std::size_t buffer) const {
    return first_[static_cast<std::size_t>(process)] + static_cast<int>(buffer) * size_of_buffer(process);
  }
  int size_of_buffer(int process) const {
    return machine_.processes[static_cast<std::size_t>(process)].uses_sfence ? 2 * bound_ + 1 : bound_ + 1;
  }
  static int length_of(const Work& w, int buffer) { return static_cast<int>(w[buffer]); }
  bool is_separator(const Work& w, const Process& p, int entry) const { return p.uses_sfence && w[entry + bound_] != 0; }
  Outcome append(Work& w, int process, std::size_t b, Value value, Value mark) const {
    const int buffer = at(process, b), length = length_of(w, buffer);
    if (length == bound_) return Outcome::Refused;
    w.set(buffer + 1 + length, value);
    if (mark != 0) w.set(buffer + 1 + length + bound_, mark);
    w.set(buffer, length + 1);
    count(w, process, 1);
    return Outcome::Done;
  }
  void pop(Work& w, int process, std::size_t b) const {
    const int buffer = at(process, b), length = length_of(w, buffer);
    shift(w, buffer, length);
    if (machine_.processes[static_cast<std::size_t>(process)].uses_sfence) shift(w, buffer + bound_, length);
    w.set(buffer, length - 1);
    count(w, process, -1);
  }
  // The entries behind slot `before` move up by one place; the last of them is 0 then.
  static void shift(Work& w, int before, int length) {
    for (int i = 1; i < length; ++i) w.set(before + i, w[before + i + 1]);
    w.set(before + length, 0);
  }
  void count(Work& w, int process, int change) const {
    const int slot = machine_.processes[static_cast<std::size_t>(process)].pending_slot;
    w.set(slot, w[slot] + change);
  }

  const Machine& machine_;
  int bound_;
  std::vector<int> first_;
};

static_assert(MemoryModel<Pso>);

}  // namespace memfence
