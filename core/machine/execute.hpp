// What one edge does, op by op, under any memory model: the native twin of models/steps.py.
//
// The policy (memory.hpp) says how a load finds its value, where a store goes, when a process is drained and what an
// sfence does. Everything is written through Work, so that the caller can undo it.
#pragma once

#include "machine/memory.hpp"

namespace memfence {

inline bool evaluate_address(const Machine& m, const Op& op, const Work& w, int& variable) {
  bool failed = false;
  const Wide index = m.expressions[static_cast<std::size_t>(op.index)].evaluate(w.data(), failed);
  if (failed || index < 0 || index >= op.size) return false;
  variable = op.base + static_cast<int>(index);
  return true;
}

inline bool assign(const Machine& m, Work& w, int slot, Wide value) {
  Value fitting;
  if (!m.slots[static_cast<std::size_t>(slot)].fit(value, fitting)) return false;
  w.set(slot, fitting);
  return true;
}

template <MemoryPolicy Memory>
Outcome run_op(const Machine& m, const Op& op, Work& w, Memory& memory) {
  bool failed = false;
  const auto value_of = [&](int expression) {
    return m.expressions[static_cast<std::size_t>(expression)].evaluate(w.data(), failed);
  };
  switch (op.kind) {
    case OpKind::Load: {
      if (op.when >= 0) {
        const Wide wanted = value_of(op.when);
        if (failed) return Outcome::Failed;
        if (wanted == 0) return assign(m, w, op.slot, 0) ? Outcome::Done : Outcome::Failed;
      }
      int variable;
      if (!evaluate_address(m, op, w, variable)) return Outcome::Failed;
      Value value;
      if (op.locked || !memory.own(w, op.process, variable, value)) {
        if (m.lock_slot >= 0 && w[m.lock_slot] != 0 && w[m.lock_slot] != op.process + 1) return Outcome::Blocked;
        value = w[variable];
      }
      return assign(m, w, op.slot, value) ? Outcome::Done : Outcome::Failed;
    }
    case OpKind::Store: {
      int variable;
      if (!evaluate_address(m, op, w, variable)) return Outcome::Failed;
      const Wide wide = value_of(op.value);
      Value value;
      if (failed || !m.slots[static_cast<std::size_t>(variable)].fit(wide, value)) return Outcome::Failed;
      if (op.locked) {
        if (m.lock_slot >= 0 && w[m.lock_slot] != 0 && w[m.lock_slot] != op.process + 1) return Outcome::Blocked;
        w.set(variable, value);
        return Outcome::Done;
      }
      return memory.store(w, op.process, variable, value);
    }
    case OpKind::Assign: {
      const Wide value = value_of(op.value);
      return !failed && assign(m, w, op.slot, value) ? Outcome::Done : Outcome::Failed;
    }
    case OpKind::Assume: {
      const Wide truth = value_of(op.value);
      return failed ? Outcome::Failed : truth ? Outcome::Done : Outcome::Blocked;
    }
    case OpKind::Assert: {
      const Wide truth = value_of(op.value);
      return failed || !truth ? Outcome::Failed : Outcome::Done;
    }
    case OpKind::Mfence:
      if (!memory.drained(w, op.process)) return Outcome::Blocked;
      memory.passed_fence(w, op.process);
      return Outcome::Done;
    case OpKind::Sfence: return memory.separate(w, op.process);
    case OpKind::Lock:
      if (w[m.lock_slot] != 0) return Outcome::Blocked;
      w.set(m.lock_slot, op.process + 1);
      memory.passed_fence(w, op.process);
      return Outcome::Done;
    case OpKind::Unlock:
      if (w[m.lock_slot] != op.process + 1 || !memory.drained(w, op.process)) return Outcome::Blocked;
      w.set(m.lock_slot, 0);
      memory.passed_fence(w, op.process);
      return Outcome::Done;
  }
  return Outcome::Blocked;
}

template <MemoryPolicy Memory>
bool may_start_locked(const Machine& m, const Work& w, Memory& memory, int process) {
  if (!memory.drained(w, process)) return false;
  return m.lock_slot < 0 || w[m.lock_slot] == 0 || w[m.lock_slot] == process + 1;
}

// Run all of the edge, locations included. Whatever the outcome, the changes made so far are in the log of `w`.
template <MemoryPolicy Memory>
Outcome run_edge(const Machine& m, const Edge& edge, Work& w, Memory& memory) {
  if (edge.partner >= 0) {
    const Process& partner = m.processes[static_cast<std::size_t>(edge.partner)];
    if (w[partner.location_slot] != edge.partner_source) return Outcome::Blocked;
    if (edge.partner_locked && !may_start_locked(m, w, memory, edge.partner)) return Outcome::Blocked;
  }
  if (edge.locked && !may_start_locked(m, w, memory, edge.process)) return Outcome::Blocked;
  if (edge.locked) memory.passed_fence(w, edge.process);
  for (const Op& op : edge.ops) {
    const Outcome outcome = run_op(m, op, w, memory);
    if (outcome != Outcome::Done) return outcome;
  }
  w.set(m.processes[static_cast<std::size_t>(edge.process)].location_slot, edge.target);
  if (edge.partner >= 0) w.set(m.processes[static_cast<std::size_t>(edge.partner)].location_slot, edge.partner_target);
  return Outcome::Done;
}

}  // namespace memfence
