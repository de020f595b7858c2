#include "memfence/attack.hpp"

#include <algorithm>

namespace memfence {

namespace {

bool is_subset(const std::vector<int>& a, const std::vector<int>& b) {
  return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

std::vector<int> with(const std::vector<int>& sorted, int item) {
  std::vector<int> result = sorted;
  const auto place = std::lower_bound(result.begin(), result.end(), item);
  if (place == result.end() || *place != item) result.insert(place, item);
  return result;
}

}  // namespace

// The attacker's view of memory: a memory policy for run_op. Pending stores are kept apart, newest value a variable.
struct AttackWalk::Overlay {
  Criterion criterion;
  int wait = 0;           // how many stores of the first edge go to memory before the delayed one
  int delayed = -1;       // variable of the first delayed store, once it is issued
  bool separated = false;  // PSO: an sfence was passed
  std::vector<std::pair<int, Value>> pending;  // sorted by variable
  std::vector<std::pair<int, Value>> written;  // PSO: what reached memory since, sorted

  // What the op just run has done, for the caller to look at.
  int read_memory = -1;
  int wrote_memory = -1;

  bool own(const Work&, int, int variable, Value& value) {
    for (const auto& [v, pending_value] : pending)
      if (v == variable) {
        value = pending_value;
        return true;
      }
    if (delayed >= 0) read_memory = variable;
    return false;
  }
  Outcome store(Work& w, int, int variable, Value value) {
    if (delayed < 0) {
      if (wait-- > 0) {
        w.set(variable, value);
        return Outcome::Done;
      }
      delayed = variable;
      put(pending, variable, value);
      return Outcome::Done;
    }
    switch (criterion) {
      case Criterion::Persistence: return Outcome::Blocked;
      case Criterion::RobustTso: put(pending, variable, value); return Outcome::Done;
      case Criterion::RobustPso: break;
    }
    if (variable == delayed || separated) {
      put(pending, variable, value);
      return Outcome::Done;
    }
    w.set(variable, value);
    put(written, variable, value);
    wrote_memory = variable;
    return Outcome::Done;
  }
  bool drained(const Work&, int) const { return delayed < 0; }
  void passed_fence(Work&, int) const {}
  Outcome separate(Work&, int) {
    separated = true;
    return Outcome::Done;
  }

  static void put(std::vector<std::pair<int, Value>>& list, int variable, Value value) {
    const auto place = std::lower_bound(list.begin(), list.end(), variable, [](const auto& e, int v) { return e.first < v; });
    if (place != list.end() && place->first == variable)
      place->second = value;
    else
      list.insert(place, {variable, value});
  }
};

bool AttackWalk::can_start(int process, Value location) const {
  for (const int number : machine_.leaving[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)]) {
    const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
    if (edge.locked) continue;
    for (const Op& op : edge.ops)
      if (op.kind == OpKind::Store && !op.locked) return true;
  }
  return false;
}

const std::vector<EndEvent>& AttackWalk::run(Work& w, int attacker) {
  ends_.clear();
  visited_.clear();
  const Value location = w[machine_.processes[static_cast<std::size_t>(attacker)].location_slot];
  for (const int number : machine_.leaving[static_cast<std::size_t>(attacker)][static_cast<std::size_t>(location)])
    start(w, attacker, machine_.edges[static_cast<std::size_t>(number)]);
  std::sort(ends_.begin(), ends_.end());
  return ends_;
}

// Any store of the edge may be the first delayed one: those before it in the same step have reached memory.
void AttackWalk::start(Work& w, int attacker, const Edge& edge) {
  if (edge.locked || edge.partner >= 0) return;
  int stores = 0;
  for (const Op& op : edge.ops) stores += op.kind == OpKind::Store && !op.locked;
  for (int first = 0; first < stores; ++first) {
    Overlay overlay{criterion_, first, -1, false, {}, {}, -1, -1};
    std::vector<int> path;
    const std::size_t mark = w.mark();
    run_ops(w, edge, overlay, {}, path);
    w.rollback(mark);
  }
}

void AttackWalk::walk(Work& w, int attacker, Overlay& overlay, std::vector<int>& crossed, std::vector<int>& path) {
  const Process& process = machine_.processes[static_cast<std::size_t>(attacker)];
  const Value location = w[process.location_slot];

  // Seen before with fewer (or the same) fences to cross: nothing new can come of it. The key is all that the rest of the
  // walk depends on: location, registers, pending stores, and under PSO what the walk has changed in memory.
  std::vector<Value> key{location, overlay.delayed, overlay.separated};
  const int first = process.pending_slot + 1;
  for (int slot = first; slot < first + process.registers; ++slot) key.push_back(w[slot]);
  for (const auto* list : {&overlay.pending, &overlay.written}) {
    key.push_back(static_cast<Value>(list->size()));
    for (const auto& [variable, value] : *list) {
      key.push_back(variable);
      key.push_back(value);
    }
  }
  auto& seen = visited_[key];
  for (const auto& known : seen)
    if (is_subset(known, crossed)) return;
  std::erase_if(seen, [&](const auto& known) { return is_subset(crossed, known); });
  seen.push_back(crossed);

  for (const int number : machine_.leaving[static_cast<std::size_t>(attacker)][static_cast<std::size_t>(location)]) {
    const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
    if (edge.locked || edge.partner >= 0) continue;
    Overlay next = overlay;
    const std::size_t mark = w.mark();
    run_ops(w, edge, next, crossed, path);
    w.rollback(mark);
  }
}

// An access counts only once the transition it belongs to is complete: a guard behind it in the same atomic step may still
// forbid the whole step.
void AttackWalk::run_ops(Work& w, const Edge& edge, Overlay& overlay, std::vector<int> crossed, std::vector<int>& path) {
  path.push_back(static_cast<int>(&edge - machine_.edges.data()));
  std::vector<std::pair<int, bool>> accesses;
  int part = 0;
  const auto complete_parts_before = [&](int end) {
    for (; part < end; ++part) {
      for (const auto& [variable, is_store] : accesses) add(overlay, variable, is_store, crossed, path);
      accesses.clear();
      if (overlay.delayed >= 0) crossed = with(crossed, edge.origin[static_cast<std::size_t>(part)]);
    }
  };
  bool blocked = false;
  for (const Op& op : edge.ops) {
    complete_parts_before(op.part);
    overlay.read_memory = overlay.wrote_memory = -1;
    // A bus lock, and a store that bypasses the buffer, end the walk like a locked step.
    const bool ends = op.kind == OpKind::Lock || op.kind == OpKind::Unlock || (op.kind == OpKind::Store && op.locked);
    blocked = ends || run_op(machine_, op, w, overlay) != Outcome::Done;
    if (blocked) break;
    if (overlay.read_memory >= 0) accesses.emplace_back(overlay.read_memory, false);
    if (overlay.wrote_memory >= 0) accesses.emplace_back(overlay.wrote_memory, true);
  }
  if (!blocked) complete_parts_before(static_cast<int>(edge.origin.size()));
  if (!blocked && overlay.delayed >= 0) {
    const Process& process = machine_.processes[static_cast<std::size_t>(edge.process)];
    w.set(process.location_slot, edge.target);
    for (const int slot : process.scratch_slots) w.set(slot, 0);
    walk(w, edge.process, overlay, crossed, path);
  }
  path.pop_back();
}

void AttackWalk::add(const Overlay& overlay, int variable, bool is_store, const std::vector<int>& crossed,
                     const std::vector<int>& path) {
  if (variable == overlay.delayed) return;
  const auto same = [&](const EndEvent& e) {
    return e.delayed == overlay.delayed && e.variable == variable && e.is_store == is_store && e.memory == overlay.written;
  };
  for (const EndEvent& e : ends_)
    if (same(e) && is_subset(e.crossed, crossed)) return;
  std::erase_if(ends_, [&](const EndEvent& e) { return same(e) && is_subset(crossed, e.crossed); });
  ends_.push_back(EndEvent{overlay.delayed, variable, is_store, crossed, path, overlay.written});
}

}  // namespace memfence
