#include "attacks/attack.hpp"

#include <algorithm>

namespace memfence {

namespace {

bool is_subset(const std::vector<int>& a, const std::vector<int>& b) {
  return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

bool is_subset(const Accesses& a, const Accesses& b) { return std::includes(b.begin(), b.end(), a.begin(), a.end()); }

Accesses merged(const Accesses& sorted, const Accesses& more) {
  Accesses all = sorted;
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void put(std::vector<std::pair<int, Value>>& list, int variable, Value value) {
  const auto place = std::lower_bound(list.begin(), list.end(), variable, [](const auto& e, int v) { return e.first < v; });
  if (place != list.end() && place->first == variable)
    place->second = value;
  else
    list.insert(place, {variable, value});
}

std::vector<int> with(const std::vector<int>& sorted, int item) {
  std::vector<int> result = sorted;
  const auto place = std::lower_bound(result.begin(), result.end(), item);
  if (place == result.end() || *place != item) result.insert(place, item);
  return result;
}

}  // namespace

namespace {

// The variables that the op may mean.
std::vector<int> variables_within(const Machine& m, const Op& op) {
  if (const int one = m.only_variable(op); one >= 0) return {one};
  std::vector<int> all;
  for (int i = 0; i < op.size; ++i) all.push_back(op.base + i);
  return all;
}

// A write is possible whatever others have pending, unless its step looks at other variables than those it writes.
bool writes_by_another_variable(const Machine& m, const Edge& edge) {
  std::vector<int> read, written;
  for (const Op& op : edge.ops) {
    if (op.kind != OpKind::Load && op.kind != OpKind::Store) continue;
    const std::vector<int> variables = variables_within(m, op);
    auto& all = op.kind == OpKind::Load ? read : written;
    all.insert(all.end(), variables.begin(), variables.end());
  }
  return std::any_of(read.begin(), read.end(), [&](int r) {
    return std::any_of(written.begin(), written.end(), [&](int variable) { return variable != r; });
  });
}

}  // namespace

bool delays_every_store(const Machine& m, Criterion criterion) {
  if (criterion != Criterion::Persistence) return criterion == Criterion::RobustTso;
  return m.lock_slot >= 0 ||
         std::any_of(m.edges.begin(), m.edges.end(), [&](const Edge& edge) { return writes_by_another_variable(m, edge); });
}

bool Crossed::is_within(const Crossed& other) const { return is_subset(all, other.all) && is_subset(some, other.some); }

bool Overlay::own(const Work&, int, int variable, Value& value) {
  for (const auto& [v, pending_value] : pending)
    if (v == variable) {
      value = pending_value;
      return true;
    }
  accesses.emplace_back(variable, false);
  return false;
}

Outcome Overlay::store(Work& w, int, int variable, Value value) {
  if (waiting > 0) {
    --waiting;
    return reach_memory(w, variable, value);
  }
  if (delayed < 0) delayed = variable;
  if (ends_at_store && !first_step) return Outcome::Blocked;
  if (criterion == Criterion::RobustPso && variable != delayed && !separated) return reach_memory(w, variable, value);
  put(pending, variable, value);
  return Outcome::Done;
}

Outcome Overlay::reach_memory(Work& w, int variable, Value value) {
  w.set(variable, value);
  put(written, variable, value);
  accesses.emplace_back(variable, true);
  return Outcome::Done;
}

void AttackWalk::learn(int attacker, Crossed clause) {
  auto& known = known_[static_cast<std::size_t>(attacker)];
  if (is_known(attacker, clause)) return;
  std::erase_if(known, [&](const Crossed& other) { return clause.is_within(other); });
  known.push_back(std::move(clause));
}

bool AttackWalk::is_least(int attacker, const Crossed& clause) const {
  const auto& known = known_[static_cast<std::size_t>(attacker)];
  return std::find(known.begin(), known.end(), clause) != known.end();
}

bool AttackWalk::is_known(int attacker, const Crossed& crossed) const {
  const auto& known = known_[static_cast<std::size_t>(attacker)];
  return std::any_of(known.begin(), known.end(), [&](const Crossed& clause) { return clause.is_within(crossed); });
}

const AttackWalk::Walked& AttackWalk::run(Work& w, int attacker) {
  found_ = {};
  visited_.clear();
  const Value location = w[machine_.processes[static_cast<std::size_t>(attacker)].location_slot];
  for (const int number : machine_.leaving[static_cast<std::size_t>(attacker)][static_cast<std::size_t>(location)])
    start(w, machine_.edges[static_cast<std::size_t>(number)]);
  std::sort(found_.ends.begin(), found_.ends.end());
  return found_;
}

const AttackWalk::Walked& AttackWalk::resume(Work& w, const Pause& pause) {
  found_ = {};
  visited_.clear();
  const Process& process = machine_.processes[static_cast<std::size_t>(pause.attacker)];
  const std::size_t mark = w.mark();
  w.set(process.location_slot, pause.location);
  for (std::size_t r = 0; r < pause.registers.size(); ++r)
    w.set(process.pending_slot + 1 + static_cast<int>(r), pause.registers[r]);
  Overlay overlay = pause.overlay;
  overlay.written.clear();
  walk(w, pause.attacker, overlay, pause.crossed, pause.trail);
  w.rollback(mark);
  std::sort(found_.ends.begin(), found_.ends.end());
  return found_;
}

// Any store of the edge may be the first delayed one: those before it in the same step have reached memory. For persistence
// the first will do; what can happen between two commits of one step is TornSteps' business.
void AttackWalk::start(Work& w, const Edge& edge) {
  if (edge.locked || edge.partner >= 0) return;
  int stores = 0;
  for (const Op& op : edge.ops) stores += op.kind == OpKind::Store && !op.locked;
  if (criterion_ == Criterion::Persistence) stores = std::min(stores, 1);
  for (int early = 0; early < stores; ++early) {
    Overlay overlay{criterion_, ends_at_store_, early};
    Crossed crossed;
    const Trail trail = Trail().then(static_cast<int>(&edge - machine_.edges.data()));
    const std::size_t mark = w.mark();
    if (run_ops(w, edge, overlay, crossed, trail)) walk(w, edge.process, overlay, crossed, trail);
    w.rollback(mark);
  }
}

// Depth first, with a stack of its own: a walk may be as long as a counter is wide.
void AttackWalk::walk(Work& w, int attacker, const Overlay& overlay, const Crossed& crossed, const Trail& trail) {
  const Process& process = machine_.processes[static_cast<std::size_t>(attacker)];
  const auto& leaving = machine_.leaving[static_cast<std::size_t>(attacker)];
  const std::size_t mark = w.mark();
  std::vector<Place> places;
  if (arrive(w, attacker, overlay, crossed, trail)) places.push_back({local_state(w, process), overlay, crossed, trail});
  while (!places.empty() && !budget_->is_spent()) {
    Place& here = places.back();
    const auto& edges = leaving[static_cast<std::size_t>(here.local.front())];
    const bool imagine = every_fence_ && criterion_ == Criterion::RobustPso && !here.overlay.separated;
    if (here.tried == edges.size() * (imagine ? 2 : 1)) {
      places.pop_back();
      continue;
    }
    const std::size_t way = here.tried++;
    const int number = edges[imagine ? way / 2 : way];
    const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
    if (edge.locked || edge.partner >= 0) continue;
    Overlay next = here.overlay;
    Crossed then = here.crossed;
    if (imagine && way % 2 == 1) {
      next.separated = true;
      next.separated_at = here.trail.length();
    }
    w.rollback(mark);
    for (const auto& [variable, value] : next.written) w.set(variable, value);
    for (std::size_t i = 0; i < here.local.size(); ++i) w.set(process.location_slot + static_cast<int>(i), here.local[i]);
    Trail longer = here.trail.then(number);
    if (run_ops(w, edge, next, then, longer) && arrive(w, attacker, next, then, longer))
      places.push_back({local_state(w, process), std::move(next), std::move(then), std::move(longer)});
  }
  w.rollback(mark);
}

std::vector<Value> AttackWalk::local_state(const Work& w, const Process& process) {
  return {w.data() + process.location_slot, w.data() + process.pending_slot + 1 + process.registers};
}

// Whether the walk goes on from here. Seen before with fewer (or the same) fences to cross: nothing new can come of it. The
// key is all that the rest of the walk depends on: location, registers, pending stores, and what the walk has changed in
// memory.
bool AttackWalk::arrive(const Work& w, int attacker, const Overlay& overlay, const Crossed& crossed, const Trail& trail) {
  if (is_known(attacker, crossed) || budget_->is_spent()) return false;
  const Process& process = machine_.processes[static_cast<std::size_t>(attacker)];
  const Value location = w[process.location_slot];
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
  for (const Seen& known : seen)
    if (known.crossed.is_within(crossed) && is_subset(overlay.chain, known.chain)) return false;
  std::erase_if(seen,
                [&](const Seen& known) { return crossed.is_within(known.crossed) && is_subset(known.chain, overlay.chain); });
  seen.push_back({crossed, overlay.chain});
  if (!overlay.chain.empty())
    found_.pauses.push_back(
        {attacker, location, {key.begin() + 3, key.begin() + 3 + process.registers}, overlay, crossed, trail});
  return true;
}

// Runs the last edge of the trail; whether the walk goes on behind it. An access counts only once the transition it belongs
// to is complete: a guard behind it in the same atomic step may still forbid the whole step. A step that fails has made its
// loads, and nothing else.
bool AttackWalk::run_ops(Work& w, const Edge& edge, Overlay& overlay, Crossed& crossed, const Trail& trail) {
  overlay.accesses.clear();
  auto written_before = overlay.written;
  int part = 0;
  const auto complete_parts_before = [&](int end) {
    for (; part < end; ++part) {
      if (overlay.delayed < 0) continue;
      const int number = edge.origin[static_cast<std::size_t>(part)];
      add(overlay, crossed, trail);
      // An sfence must stand before the last store that reached memory, or it changes nothing.
      if (std::any_of(overlay.accesses.begin(), overlay.accesses.end(), [](const auto& a) { return a.second; }) &&
          !overlay.first_step)
        crossed.some = crossed.all;
      crossed.all = with(crossed.all, number);
      if (criterion_ != Criterion::Persistence) overlay.chain = merged(overlay.chain, overlay.accesses);
      overlay.accesses.clear();
      overlay.first_step = false;
      written_before = overlay.written;
    }
  };
  Outcome outcome = Outcome::Done;
  for (const Op& op : edge.ops) {
    complete_parts_before(op.part);
    // A bus lock, and a store that bypasses the buffer, end the walk like a locked step.
    const bool ends = op.kind == OpKind::Lock || op.kind == OpKind::Unlock || (op.kind == OpKind::Store && op.locked);
    outcome = ends ? Outcome::Blocked : run_op(machine_, op, w, overlay);
    if (outcome != Outcome::Done) break;
  }
  if (outcome == Outcome::Failed && !overlay.first_step) {
    std::erase_if(overlay.accesses, [](const auto& access) { return access.second; });
    overlay.written = written_before;
    add(overlay, crossed, trail);
  }
  if (outcome != Outcome::Done) return false;
  complete_parts_before(static_cast<int>(edge.origin.size()));
  if (overlay.delayed < 0) return false;
  const Process& process = machine_.processes[static_cast<std::size_t>(edge.process)];
  w.set(process.location_slot, edge.target);
  for (const int slot : process.scratch_slots) w.set(slot, 0);
  return true;
}

// For persistence each read is an end event of its own: whoever changes its variable closes the pattern. A chain starts from
// all accesses so far: each of them happens after the delayed store.
void AttackWalk::add(const Overlay& overlay, const Crossed& crossed, const Trail& trail) {
  auto accesses = overlay.accesses;
  std::sort(accesses.begin(), accesses.end());
  accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
  if (accesses.empty()) return;
  EndEvent event{overlay.delayed, overlay.early, {}, {}, crossed.all, crossed.some, {}, overlay.written, overlay.separated_at};
  if (criterion_ == Criterion::Persistence) {
    for (const auto& access : accesses) {
      event.accesses = {access};
      add(event, trail);
    }
    return;
  }
  event.accesses = accesses;
  event.chain = merged(overlay.chain, accesses);
  if (event.has_store() && !overlay.first_step) event.separable = crossed.all;
  add(std::move(event), trail);
}

void AttackWalk::add(EndEvent event, const Trail& trail) {
  const auto is_better = [](const EndEvent& a, const EndEvent& b) {
    const bool reads_the_same = a.chain.empty() ? a.accesses == b.accesses : is_subset(b.chain, a.chain);
    return a.delayed == b.delayed && reads_the_same && a.memory == b.memory && is_subset(a.crossed, b.crossed) &&
           is_subset(a.separable, b.separable);
  };
  for (const EndEvent& known : found_.ends)
    if (is_better(known, event)) return;
  std::erase_if(found_.ends, [&](const EndEvent& known) { return is_better(event, known); });
  event.edges = trail.edges();
  found_.ends.push_back(std::move(event));
}

std::size_t WalkMemo::Hash::operator()(const std::vector<Value>& key) const {
  std::uint64_t hash = key.size();
  for (const Value value : key) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

AttackWalk::Walked& WalkMemo::run(AttackWalk& walk, Work& w, int attacker) {
  const Process& process = machine_.processes[static_cast<std::size_t>(attacker)];
  key_.assign(w.data(), w.data() + machine_.variables);
  key_.push_back(attacker);
  key_.push_back(w[process.location_slot]);
  const Value* registers = w.data() + process.pending_slot + 1;
  key_.insert(key_.end(), registers, registers + process.registers);
  if (machine_.lock_slot >= 0) key_.push_back(w[machine_.lock_slot]);
  if (const auto found = known_.find(key_); found != known_.end()) return found->second;
  if (known_.size() >= kMost) known_.clear();
  return known_.emplace(key_, walk.run(w, attacker)).first->second;
}

}  // namespace memfence
