#include "symbolic/steps.hpp"

#include <algorithm>

namespace memfence {

namespace {

std::vector<int> expressions_of(const Op& op) {
  switch (op.kind) {
    case OpKind::Load: return op.when >= 0 ? std::vector{op.index, op.when} : std::vector{op.index};
    case OpKind::Store: return {op.index, op.value};
    case OpKind::Assign:
    case OpKind::Assume:
    case OpKind::Assert: return {op.value};
    default: return {};
  }
}

}  // namespace

SymbolicSteps::SymbolicSteps(const Machine& m, Languages& languages, bool settles, Reductions reductions)
    : machine_(m), languages_(languages), memory_{*this}, settles_(settles), reductions_(reductions) {
  // Who owns each slot: memory and the bus lock belong to nobody.
  std::vector<int> owner(m.slots.size(), -1);
  for (std::size_t p = 0; p < m.processes.size(); ++p) {
    const Process& process = m.processes[p];
    for (int slot = process.location_slot; slot <= process.pending_slot + process.registers; ++slot)
      owner[static_cast<std::size_t>(slot)] = static_cast<int>(p);
  }
  self_contained_.assign(m.processes.size(), 1);
  for (const Edge& edge : m.edges) {
    auto& contained = self_contained_[static_cast<std::size_t>(edge.process)];
    if (edge.partner >= 0) contained = self_contained_[static_cast<std::size_t>(edge.partner)] = 0;
    for (const Op& op : edge.ops) {
      const bool direct = op.kind == OpKind::Store && op.locked && !edge.locked;
      if (direct) contained = 0;
      for (const int e : expressions_of(op))
        for (const int slot : m.expressions[static_cast<std::size_t>(e)].slots_read())
          if (owner[static_cast<std::size_t>(slot)] != edge.process) contained = 0;
    }
  }
  for (const Edge& edge : m.edges) {
    Needs needs{std::vector<std::uint8_t>(static_cast<std::size_t>(m.variables), 0), 0, edge.locked};
    for (const Op& op : edge.ops) {
      needs.drains |= op.kind == OpKind::Mfence || op.kind == OpKind::Unlock;
      if (op.kind != OpKind::Load && !(op.kind == OpKind::Store && op.locked)) continue;
      ++needs.count;
      for (int i = 0; i < op.size; ++i) needs.reads[static_cast<std::size_t>(op.base + i)] = 1;
    }
    needs_.push_back(needs);
  }
  if (m.has_committed) std::fill(self_contained_.begin(), self_contained_.end(), std::uint8_t{0});
}

Outcome SymbolicSteps::Memory::store(Work& w, int process, int variable, Value value) const {
  const Symbol symbol = steps.languages_.symbol(variable, value);
  w.set(steps.language_slot(process), steps.languages_.settle(steps.languages_.append(steps.language(w, process), symbol)));
  steps.events_.push_back({EventKind::Append, process, symbol, 0, false});
  return Outcome::Done;
}

bool SymbolicSteps::Memory::drained(Work& w, int process) const {
  if (!steps.languages_.has_drained(steps.language(w, process))) return false;
  w.set(steps.language_slot(process), kDrained);
  steps.events_.push_back({EventKind::Barrier, process, 0, 0, false});
  return true;
}

Outcome SymbolicSteps::Memory::separate(Work& w, int process) const {
  Languages& languages = steps.languages_;
  if (!languages.commits_out_of_order()) return Outcome::Done;
  if (steps.machine_.processes[static_cast<std::size_t>(process)].stored_variables.empty()) return Outcome::Done;
  w.set(steps.language_slot(process), languages.settle(languages.append(steps.language(w, process), kSeparator)));
  steps.events_.push_back({EventKind::Append, process, kSeparator, 0, false});
  return Outcome::Done;
}

bool SymbolicSteps::is_private(const Work& w, int p) const {
  const Process& process = machine_.processes[static_cast<std::size_t>(p)];
  const auto kind = static_cast<Private>(process.is_private[static_cast<std::size_t>(w[process.location_slot])]);
  return kind == Private::Always || (kind == Private::WhenDrained && language(w, p) == kDrained);
}

bool SymbolicSteps::is_committed(const Work& w, int p) const {
  const Process& process = machine_.processes[static_cast<std::size_t>(p)];
  return process.committed[static_cast<std::size_t>(w[process.location_slot])] != 0;
}

bool SymbolicSteps::start_locked(Work& w, int process) {
  if (!memory_.drained(w, process)) return false;
  return machine_.lock_slot < 0 || w[machine_.lock_slot] == 0 || w[machine_.lock_slot] == process + 1;
}

void SymbolicSteps::move(Work& w, int process, int target) {
  const Process& moved = machine_.processes[static_cast<std::size_t>(process)];
  w.set(moved.location_slot, target);
  for (const int slot : moved.scratch_slots) w.set(slot, 0);
}

void SymbolicSteps::note_direct_access(const Work& w, const Op& op) {
  if (!op.locked || (op.kind != OpKind::Load && op.kind != OpKind::Store)) return;
  int variable;
  if (evaluate_address(machine_, op, w, variable)) touched_.push_back(variable);
}

// Whether a step needs every commit that is still owed.
bool SymbolicSteps::needs(int mover, const std::vector<Event>& events, const Owed& owed) const {
  for (int p = 0; p < static_cast<int>(owed.size()); ++p) {
    const int variable = owed[static_cast<std::size_t>(p)];
    if (variable < 0) continue;
    const bool drains = std::any_of(events.begin(), events.end(),
                                    [&](const Event& e) { return e.kind == EventKind::Barrier && e.process == p; });
    const bool reads = mover != p && std::find(touched_.begin(), touched_.end(), variable) != touched_.end();
    if (!drains && !reads) return false;
  }
  return true;
}

// Whether commits of p may be of use in the row. A row needs a process because its last step reads what p commits, or
// waits for p's buffer, or because p and another process of the row write the same variable. Without such a clash every
// process of the row must be needed by the last step itself, so there are no more of them than it has accesses.
bool SymbolicSteps::may_join(const Work& w, const Owed& owed, int p) const {
  if (language(w, p) == kDrained) return false;
  if (owed[static_cast<std::size_t>(p)] != kAbsent) return true;
  int present = 0;
  bool clashes = false, clashes_in_row = false;
  for (int q = 0; q < static_cast<int>(owed.size()); ++q) {
    if (q == p) continue;
    const bool in_row = owed[static_cast<std::size_t>(q)] != kAbsent, clash = share_variable(w, owed, p, q);
    present += in_row;
    clashes |= clash;
    clashes_in_row |= clash && in_row;
  }
  int most = 0;
  bool is_read = false;
  for (int q = 0; q < static_cast<int>(owed.size()); ++q) {
    const auto location = static_cast<std::size_t>(w[machine_.processes[static_cast<std::size_t>(q)].location_slot]);
    for (const int edge : machine_.leaving[static_cast<std::size_t>(q)][location]) {
      const Needs& needs = needs_[static_cast<std::size_t>(edge)];
      most = std::max(most, needs.count + needs.drains);
      if (q == p)
        is_read |= needs.drains;
      else
        for (const int variable : languages_.variables(language(w, p)))
          is_read |= needs.reads[static_cast<std::size_t>(variable)] != 0;
    }
  }
  return clashes_in_row || ((is_read || clashes) && present < std::max(most, 1));
}

// Whether both have pending stores to one variable, or one has and the other has just committed one.
bool SymbolicSteps::share_variable(const Work& w, const Owed& owed, int p, int q) const {
  const std::vector<int>& mine = languages_.variables(language(w, p));
  return std::any_of(mine.begin(), mine.end(), [&](int variable) {
    return variable == owed[static_cast<std::size_t>(q)] || languages_.mentions(language(w, q), variable);
  });
}

bool SymbolicSteps::has_edge_when_drained(Work& w) {
  struct Counter {
    bool any = false;
    void step(int, bool, const std::vector<Event>&) { any = true; }
    void failed() { any = true; }
  } counter;
  const std::size_t mark = w.mark();
  const int processes = static_cast<int>(machine_.processes.size());
  for (int p = 0; p < processes; ++p) w.set(language_slot(p), kDrained);
  bool committed = false;
  for (int p = 0; machine_.has_committed && p < processes; ++p) committed |= is_committed(w, p);
  for (int p = 0; p < processes && !counter.any; ++p) edges(w, p, counter, committed);
  w.rollback(mark);
  return counter.any;
}

}  // namespace memfence
