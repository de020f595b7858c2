// The memory models as policies: the native twins of models/{sc,tso,pso,bounded}.py.
//
// Each one lays out the slots of its buffers behind the machine's own and answers five questions about them. Buffers are
// kept in one canonical form (oldest entry first, unused places 0), so that equal states are equal words.
#pragma once

#include <algorithm>
#include <utility>

#include "machine/execute.hpp"

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
        variable.hi = std::max(variable.hi, v);
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
    w.set(w[first], w[first + 1]);
    for (int i = 0; i < 2 * (count - 1); ++i) w.set(first + i, w[first + i + 2]);
    w.set(first + 2 * count - 2, 0);
    w.set(first + 2 * count - 1, 0);
    w.set(machine_.processes[static_cast<std::size_t>(process)].pending_slot, count - 1);
    emit(0);
  }

 private:
  int pending(const Work& w, int process) const {
    return w[machine_.processes[static_cast<std::size_t>(process)].pending_slot];
  }
  const Machine& machine_;
  int per_variable_;
  std::vector<int> capacity_, first_;
};

// PSO(k): one FIFO a process and stored variable. A buffer is its length, then `bound` values; the separator is one
// more than the variable's largest value. `pending_slot` is the sum of the lengths: derived, not stored.
class Pso {
 public:
  Pso(const Machine& m, int bound) : slots(m.slots), machine_(m), bound_(bound) {
    for (const Process& p : m.processes) {
      first_.push_back(static_cast<int>(slots.size()));
      for (const int v : p.stored_variables) {
        Slot value = m.slots[static_cast<std::size_t>(v)];
        value.lo = std::min(value.lo, 0);
        value.hi = std::max(value.hi, 0) + (p.uses_sfence ? 1 : 0);
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
        if (w[buffer + i] != separator(process, b)) {
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
      const bool separated = w[buffer] > 0 && w[buffer + 1] == separator(process, b);
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
  Value separator(int process, std::size_t buffer) const {
    const Process& p = machine_.processes[static_cast<std::size_t>(process)];
    if (!p.uses_sfence) return INT32_MAX;
    return std::max(machine_.slots[static_cast<std::size_t>(p.stored_variables[buffer])].hi, 0) + 1;
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

}  // namespace memfence
