// What a step touches: the accesses of one edge, recorded while it runs under SC, and what the monitor makes of them.
#pragma once

#include <span>
#include <vector>

#include "memfence/monitor.hpp"
#include "models/sc.hpp"

namespace memfence {

enum class TouchKind : std::uint8_t { Load, Store, LockedLoad, LockedStore, DirectStore, Fence };

struct Touch {
  TouchKind kind;
  int process;
  int variable;
  Value value;

  bool reads() const { return kind == TouchKind::Load || kind == TouchKind::LockedLoad; }
  bool writes() const { return kind != TouchKind::Fence && !reads(); }
};

// Runs `edge`, scratch registers reset as between any two steps, and appends its accesses: all of them, or those up to
// the op that blocked or failed. Whatever the outcome, the changes made so far are in the log of `work`.
inline Outcome run_recorded(const Machine& m, const Edge& edge, Work& work, const Sc& memory, std::vector<Touch>& accesses) {
  if (edge.partner >= 0) {
    const Process& partner = m.processes[static_cast<std::size_t>(edge.partner)];
    if (work[partner.location_slot] != edge.partner_source) return Outcome::Blocked;
    if (edge.partner_locked && !may_start_locked(m, work, memory, edge.partner)) return Outcome::Blocked;
  }
  if (edge.locked && !may_start_locked(m, work, memory, edge.process)) return Outcome::Blocked;
  for (const Op& op : edge.ops) {
    const bool locked = op.process == edge.process ? edge.locked : edge.partner_locked;
    int variable = -1;
    bool failed = false;
    const bool loads = op.kind == OpKind::Load &&
                       (op.when < 0 || m.expressions[static_cast<std::size_t>(op.when)].evaluate(work.data(), failed) != 0);
    if ((loads || op.kind == OpKind::Store) && !failed && evaluate_address(m, op, work, variable) && loads)
      accesses.push_back({locked ? TouchKind::LockedLoad : TouchKind::Load, op.process, variable, work[variable]});
    if (op.kind == OpKind::Mfence) accesses.push_back({TouchKind::Fence, op.process, 0, 0});
    const Outcome outcome = run_op(m, op, work, memory);
    if (outcome != Outcome::Done) return outcome;
    if (op.kind == OpKind::Store) {
      const TouchKind kind = locked ? TouchKind::LockedStore : op.locked ? TouchKind::DirectStore : TouchKind::Store;
      accesses.push_back({kind, op.process, variable, work[variable]});
    }
  }
  const auto arrive = [&](int process, int target) {
    const Process& p = m.processes[static_cast<std::size_t>(process)];
    for (const int slot : p.scratch_slots) work.set(slot, 0);
    work.set(p.location_slot, target);
  };
  arrive(edge.process, edge.target);
  if (edge.partner >= 0) arrive(edge.partner, edge.partner_target);
  return Outcome::Done;
}

// The accesses of one step as the monitor wants them. A variable that a locked step writes is one interlocked event; a
// locked step that only reads is loads and a fence.
void make_events(std::span<const Touch> accesses, const Edge& edge, int processes, std::vector<MemoryEvent>& events);

}  // namespace memfence
