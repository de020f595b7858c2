// One edge of a machine, run under SC with its accesses noted: what an explorer, a race observer and a walk of an attack
// have in common.
#pragma once

#include "execution/access.hpp"
#include "models/semantics.hpp"

namespace memfence {

struct Recorded {
  Outcome outcome = Outcome::Blocked;
  int done = -1;  // how many ops, from the first; -1: a locked step or a rendezvous could not begin
};

// Run `edge`, scratch registers reset as between any two steps, and call `note` with its accesses and full fences: all of
// them, or those up to the op that blocked or failed. Whatever the outcome, the changes made so far are in the log of
// `work`. `memory`: any policy without buffers.
template <class Memory, class Note>
Recorded run_recorded(const Machine& m, const Edge& edge, Work& work, Memory& memory, Note&& note) {
  Recorded ran;
  if (edge.partner >= 0) {
    const Process& partner = m.processes[static_cast<std::size_t>(edge.partner)];
    if (work[partner.location_slot] != edge.partner_source) return ran;
    if (edge.partner_locked && !may_start_locked(m, work, memory, edge.partner)) return ran;
  }
  if (edge.locked) {
    if (!may_start_locked(m, work, memory, edge.process)) return ran;
    memory.passed_fence(work, edge.process);
  }
  const auto access = [](AccessKind kind, const Op& op, int variable, Value value) {
    return Access{kind, static_cast<std::int16_t>(op.process), variable, value};
  };
  ran.done = 0;
  for (const Op& op : edge.ops) {
    const bool locked = op.process == edge.process ? edge.locked : edge.partner_locked;
    int variable = -1;
    bool failed = false;
    const bool loads = op.kind == OpKind::Load &&
                       (op.when < 0 || m.expressions[static_cast<std::size_t>(op.when)].evaluate(work.data(), failed) != 0);
    if ((loads || op.kind == OpKind::Store) && !failed && evaluate_address(m, op, work, variable) && loads)
      note(access(locked ? AccessKind::LockedLoad : AccessKind::Load, op, variable, work[variable]));
    if (op.kind == OpKind::Mfence) note(access(AccessKind::Fence, op, 0, 0));
    ran.outcome = run_op(m, op, work, memory);
    if (ran.outcome != Outcome::Done) return ran;
    ++ran.done;
    if (op.kind == OpKind::Store) {
      const AccessKind kind = locked ? AccessKind::LockedStore : op.locked ? AccessKind::DirectStore : AccessKind::Store;
      note(access(kind, op, variable, work[variable]));
    }
  }
  ran.outcome = Outcome::Done;
  const auto arrive = [&](int process, int target) {
    const Process& p = m.processes[static_cast<std::size_t>(process)];
    for (const int slot : p.scratch_slots) work.set(slot, 0);
    work.set(p.location_slot, target);
  };
  arrive(edge.process, edge.target);
  if (edge.partner >= 0) arrive(edge.partner, edge.partner_target);
  return ran;
}

}  // namespace memfence
