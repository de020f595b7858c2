// Which variables a step reads and writes when it is taken under SC: a memory policy that keeps notes.
#pragma once

#include <algorithm>

#include "machine/execute.hpp"

namespace memfence {

struct Access {
  int variable;
  bool is_store;
  bool locked;
  Value value = 0;  // of a store
};

template <MemoryPolicy Semantics>
struct Recording {
  const Semantics& inner;
  std::vector<Access>& notes;

  bool own(const Work&, int, int variable, Value&) {
    notes.push_back({variable, false, false});
    return false;
  }
  Outcome store(Work& w, int process, int variable, Value value) {
    const Outcome outcome = inner.store(w, process, variable, value);
    if (outcome == Outcome::Done) notes.push_back({variable, true, false, value});
    return outcome;
  }
  bool drained(const Work&, int) const { return true; }
  void passed_fence(Work& w, int process) const { inner.passed_fence(w, process); }
  Outcome separate(Work&, int) const { return Outcome::Done; }
};

// What became of a step that was tried under SC.
struct Tried {
  bool happened = false;   // the transition with the last access was possible
  bool completed = false;  // so were the local steps fused behind it, and nothing failed
};

// A step that fails has read; it has not written, and what it wrote itself it has not read.
inline void keep_reads(std::vector<Access>& notes) {
  std::vector<Access> kept;
  std::vector<int> written;
  for (const Access& a : notes) {
    if (a.is_store)
      written.push_back(a.variable);
    else if (std::find(written.begin(), written.end(), a.variable) == written.end())
      kept.push_back(a);
  }
  notes = std::move(kept);
}

// Run `edge` under SC, noting its accesses in order. The changes stay in `w`; locations move only if it completed. A step
// that fails counts as happened: its reads are accesses like others, and nothing of its process follows.
template <MemoryPolicy Semantics>
Tried try_edge(const Machine& m, const Edge& edge, Work& w, const Semantics& sc, std::vector<Access>& notes) {
  Recording<Semantics> memory{sc, notes};
  Tried tried;
  notes.clear();
  if (edge.locked && !may_start_locked(m, w, memory, edge.process)) return tried;
  const std::size_t mark = w.mark();
  if (edge.locked) memory.passed_fence(w, edge.process);
  int done = 0;
  Outcome outcome = Outcome::Done;
  for (const Op& op : edge.ops) {
    // Locked ops bypass the policy, so they are noted here; the address is evaluated before the op changes anything.
    int variable = -1;
    const bool touches = op.locked && (op.kind == OpKind::Load || op.kind == OpKind::Store);
    bool skipped = false;
    if (touches && op.when >= 0) {
      bool failed = false;
      skipped = m.expressions[static_cast<std::size_t>(op.when)].evaluate(w.data(), failed) == 0 || failed;
    }
    if (touches && !skipped) evaluate_address(m, op, w, variable);
    outcome = run_op(m, op, w, memory);
    if (outcome != Outcome::Done) break;
    if (variable >= 0) notes.push_back({variable, op.kind == OpKind::Store, true, w[variable]});
    ++done;
  }
  if (outcome == Outcome::Failed && done < edge.required) {
    w.rollback(mark);
    keep_reads(notes);
  }
  tried.happened = done >= edge.required || outcome == Outcome::Failed;
  tried.completed = done == static_cast<int>(edge.ops.size());
  if (!tried.completed) return tried;
  w.set(m.processes[static_cast<std::size_t>(edge.process)].location_slot, edge.target);
  for (const int slot : m.processes[static_cast<std::size_t>(edge.process)].scratch_slots) w.set(slot, 0);
  return tried;
}

}  // namespace memfence
