// Partial store order with bounded buffers: the native twin of models/pso.py and models/bounded.py.
#pragma once

#include <algorithm>

#include "models/policy.hpp"

namespace memfence {

// PSO(k): one FIFO a process and stored variable. A buffer is its length, then `bound` values. The separator is a value
// that the variable cannot have: one more than the largest or, where there is none, one less than the smallest. A process
// with sfences must leave room for one of them (the encoder sees to it). `pending_slot` is the sum of the lengths:
// derived, not stored.
class Pso {
 public:
  Pso(const Machine& m, int bound) : slots(m.slots), machine_(m), bound_(bound) {
    for (const Process& p : m.processes) {
      first_.push_back(static_cast<int>(slots.size()));
      for (const int v : p.stored_variables) {
        Slot value = m.slots[static_cast<std::size_t>(v)];
        value.lo = std::min(value.lo, 0);
        value.hi = std::max(value.hi, 0);
        if (p.uses_sfence) (value.hi < INT32_MAX ? value.hi : value.lo) = separator_of(value);
        slots.push_back(Slot{0, bound});
        for (int i = 0; i < bound; ++i) slots.push_back(value);
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
      for (int i = w[buffer]; i >= 1; --i)
        if (!is_separator(w[buffer + i], process, b)) {
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
      if (p.stored_variables[b] == variable) return append(w, process, b, value);
    return Outcome::Blocked;
  }
  bool drained(const Work& w, int process) const {
    return w[machine_.processes[static_cast<std::size_t>(process)].pending_slot] == 0;
  }
  void passed_fence(Work&, int) const {}
  Outcome separate(Work& w, int process) const {
    const std::size_t buffers = machine_.processes[static_cast<std::size_t>(process)].stored_variables.size();
    for (std::size_t b = 0; b < buffers; ++b) {
      const Outcome outcome = append(w, process, b, separator(process, b));
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
    return {first_[static_cast<std::size_t>(process)], static_cast<int>(buffers) * (bound_ + 1)};
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
      const bool separated = w[buffer] > 0 && is_separator(w[buffer + 1], process, b);
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
    return first_[static_cast<std::size_t>(process)] + static_cast<int>(buffer) * (bound_ + 1);
  }
  static Value separator_of(const Slot& value) {
    return value.hi < INT32_MAX ? std::max(value.hi, 0) + 1 : std::min(value.lo, 0) - 1;
  }
  Value separator(int process, std::size_t buffer) const {
    const Process& p = machine_.processes[static_cast<std::size_t>(process)];
    return separator_of(machine_.slots[static_cast<std::size_t>(p.stored_variables[buffer])]);
  }
  bool is_separator(Value value, int process, std::size_t buffer) const {
    return machine_.processes[static_cast<std::size_t>(process)].uses_sfence && value == separator(process, buffer);
  }
  Outcome append(Work& w, int process, std::size_t b, Value value) const {
    const int buffer = at(process, b), length = w[buffer];
    if (length == bound_) return Outcome::Refused;
    w.set(buffer + 1 + length, value);
    w.set(buffer, length + 1);
    count(w, process, 1);
    return Outcome::Done;
  }
  void pop(Work& w, int process, std::size_t b) const {
    const int buffer = at(process, b), length = w[buffer];
    for (int i = 1; i < length; ++i) w.set(buffer + i, w[buffer + i + 1]);
    w.set(buffer + length, 0);
    w.set(buffer, length - 1);
    count(w, process, -1);
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
