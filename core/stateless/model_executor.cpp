#include "stateless/model_executor.hpp"

#include <algorithm>

#include "execution/recorded_edge.hpp"

namespace memfence {

namespace {

// Rendezvous, committed locations, remote registers and lock regions with cycles let processes look at each other other than
// through memory.
bool meets_in_memory_only(const Machine& m) {
  if (m.lock_slot >= 0 || m.has_committed) return false;
  std::vector<int> owner(m.slots.size(), -1);
  for (std::size_t p = 0; p < m.processes.size(); ++p) {
    const auto end = p + 1 < m.processes.size() ? static_cast<std::size_t>(m.processes[p + 1].location_slot) : m.slots.size();
    const auto first = static_cast<std::size_t>(m.processes[p].location_slot);
    std::fill(owner.begin() + static_cast<std::ptrdiff_t>(first), owner.begin() + static_cast<std::ptrdiff_t>(end),
              static_cast<int>(p));
  }
  const auto is_own = [&](int process, int expression) {
    if (expression < 0) return true;
    const std::vector<int> read = m.expressions[static_cast<std::size_t>(expression)].slots_read();
    return std::all_of(read.begin(), read.end(), [&](int slot) { return owner[static_cast<std::size_t>(slot)] == process; });
  };
  for (const Edge& edge : m.edges) {
    if (edge.partner >= 0) return false;
    for (const Op& op : edge.ops) {
      const bool addressed = op.kind == OpKind::Load || op.kind == OpKind::Store;
      const bool valued =
          op.kind == OpKind::Store || op.kind == OpKind::Assign || op.kind == OpKind::Assume || op.kind == OpKind::Assert;
      if ((addressed && !is_own(op.process, op.index)) || (valued && !is_own(op.process, op.value)) ||
          (op.kind == OpKind::Load && !is_own(op.process, op.when)))
        return false;
    }
  }
  return true;
}

// One load, and nothing stored in the same step but, locked, that very variable: what comes before the step alone decides
// whether the load can be stale.
bool has_simple_load(const Machine& m, const Edge& edge) {
  const Op* load = nullptr;
  for (const Op& op : edge.ops) {
    if (op.kind != OpKind::Load) continue;
    if (load) return false;
    load = &op;
  }
  if (!load || edge.partner >= 0) return edge.partner < 0;
  const auto variable = [&](const Op& op) { return m.only_variable(op); };
  return std::all_of(edge.ops.begin(), edge.ops.end(), [&](const Op& op) {
    return op.kind != OpKind::Store || (edge.locked && variable(op) >= 0 && variable(op) == variable(*load));
  });
}

}  // namespace

ModelExecutor::ModelExecutor(const Machine& m)
    : machine_(m), sc_(m), work_(m.slots.size()), stale_(m, sc_), memory_only_(memfence::meets_in_memory_only(m)) {
  for (const auto& locations : m.leaving) {
    auto& simple = simple_at_.emplace_back();
    for (const auto& edges : locations)
      simple.push_back(std::all_of(edges.begin(), edges.end(),
                                   [&](int e) { return has_simple_load(m, m.edges[static_cast<std::size_t>(e)]); }));
  }
}

void ModelExecutor::reset(std::size_t start) {
  start_ = start;
  std::copy(machine_.initial[start].begin(), machine_.initial[start].end(), work_.data());
  work_.settle();
  effects_.clear();
}

// While some process is at a committed location, only such processes move.
bool ModelExecutor::is_kept_waiting(const Edge& edge) const {
  if (!machine_.has_committed) return false;
  bool committed = false;
  for (int p = 0; p < threads(); ++p) committed |= is_committed(p);
  return committed && (!is_committed(edge.process) || (edge.partner >= 0 && !is_committed(edge.partner)));
}

void ModelExecutor::offer(int process, Offers& offers) {
  for (const int number : leaving(process)) {
    const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
    if (is_kept_waiting(edge)) continue;
    const std::size_t mark = work_.mark(), first = offers.recorded(), notes = effects_.size();
    const Outcome outcome = run_recorded(machine_, edge, work_, sc_, [&](const Access& a) { offers.record(a); }).outcome;
    if (outcome == Outcome::Blocked) {
      offers.block(first);
    } else {
      // A locked step without any access still needs an empty buffer: it is a fence.
      if (edge.locked && offers.recorded() == first)
        offers.record({AccessKind::Fence, static_cast<std::int16_t>(process), 0, 0});
      if (outcome == Outcome::Done) note_effects(mark, first, offers);
      Alternative way;
      way.label = number;
      way.fails = outcome == Outcome::Failed;
      way.locked = edge.locked;
      way.accesses = first;
      way.notes = notes;
      way.notes_end = effects_.size();
      offers.add(way, memory_only_);
    }
    work_.rollback(mark);
  }
}

void ModelExecutor::note_effects(std::size_t mark, std::size_t first_access, const Offers& offers) {
  for (std::size_t i = mark; i < work_.log().size(); ++i) {
    const int slot = work_.log()[i].slot;
    if (slot >= machine_.variables) effects_.push_back({slot, work_[slot]});
  }
  // A store of the value that is there now is not in the log, but it may have an effect later.
  for (std::size_t i = first_access; i < offers.recorded(); ++i) {
    const Access& a = offers.access(i);
    if (a.writes()) effects_.push_back({a.address, work_[a.address]});
  }
}

Monitor ModelExecutor::make_monitor() const {
  bool several = false, direct = false;
  for (const Edge& edge : machine_.edges) {
    int loads = 0;
    for (const Op& op : edge.ops) {
      loads += op.kind == OpKind::Load;
      direct |= op.kind == OpKind::Store && op.locked && !edge.locked;
    }
    several |= loads > 1;
  }
  Monitor monitor(true, several);
  monitor.ensure_threads(static_cast<std::uint32_t>(threads() * (direct ? 2 : 1)));
  return monitor;
}

std::optional<StaleStep> ModelExecutor::find_stale(int process, std::span<const Access>, Monitor& monitor) {
  for (const int number : leaving(process))
    if (auto found = stale_.find(number, work_, monitor)) return found;
  return std::nullopt;
}

bool ModelExecutor::takes_bus(const Alternative& step) const {
  if (machine_.lock_slot < 0) return false;
  const auto& ops = edge_of(step).ops;
  return std::any_of(ops.begin(), ops.end(), [](const Op& op) { return op.kind == OpKind::Lock; });
}

bool ModelExecutor::frees_bus(const Alternative& step) const {
  const auto& ops = edge_of(step).ops;
  for (std::size_t i = ops.size(); i-- > 0;) {
    if (ops[i].kind == OpKind::Unlock) return true;
    if (ops[i].kind == OpKind::Lock) return false;
  }
  return false;
}

}  // namespace memfence
