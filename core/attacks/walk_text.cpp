#include "attacks/walk_text.hpp"

#include <algorithm>

namespace memfence {

namespace {

bool is_access(const Op& op) { return op.kind == OpKind::Load || op.kind == OpKind::Store; }

}  // namespace

WalkText::WalkText(const Machine& m, Criterion criterion, const std::vector<bool>& changing)
    : machine_(m), criterion_(criterion), delays_every_store_(delays_every_store(m, criterion)) {
  for (const Process& p : m.processes) {
    within_reach_.emplace_back(static_cast<std::size_t>(p.locations), 0);
    written_from_.emplace_back(static_cast<std::size_t>(p.locations), 0);
  }
  ahead_of_ = within_reach_;
  for (const Edge& e : m.edges)
    for (const Op& op : e.ops)
      if (op.kind == OpKind::Store)
        written_from_[static_cast<std::size_t>(op.process)]
                     [static_cast<std::size_t>(op.process == e.process ? e.source : e.partner_source)] |= variables_of(op);
  note_regions();
  note_others(changing);
  for (int p = 0; p < static_cast<int>(m.processes.size()); ++p) solve(p);
}

// What follows an edge that takes the bus lock happens with it: any store of the process may be part of that.
void WalkText::note_regions() {
  for (const Edge& e : machine_.edges) {
    const bool takes_lock = std::any_of(e.ops.begin(), e.ops.end(), [](const Op& op) { return op.kind == OpKind::Lock; });
    if (!takes_lock) continue;
    auto& written = written_from_[static_cast<std::size_t>(e.process)];
    std::uint64_t all = 0;
    for (const std::uint64_t variables : written) all |= variables;
    written[static_cast<std::size_t>(e.source)] |= all;
  }
}

void WalkText::fence(int process, int transition) {
  if (fenced_.emplace(process, transition).second) solve(process);
}

std::uint64_t WalkText::variables_of(const Op& op) const {
  if (const int one = machine_.only_variable(op); one >= 0) return bit(one);
  std::uint64_t all = 0;
  for (int i = 0; i < op.size; ++i) all |= bit(op.base + i);
  return all;
}

// An end event is an access that conflicts with one of another process: a read of what it writes; under PSO also a store
// to what it reads. For persistence, the write must be one that can change something.
void WalkText::note_others(const std::vector<bool>& changing) {
  const std::size_t processes = machine_.processes.size();
  of_interest_.assign(processes, 0);
  used_by_others_.assign(processes, 0);
  std::uint64_t counts = 0;
  for (std::size_t v = 0; v < changing.size(); ++v)
    if (criterion_ != Criterion::Persistence || changing[v]) counts |= bit(static_cast<int>(v));
  for (const Edge& e : machine_.edges)
    for (const Op& op : e.ops) {
      if (!is_access(op)) continue;
      for (std::size_t p = 0; p < processes; ++p) {
        if (static_cast<int>(p) == op.process) continue;
        used_by_others_[p] |= variables_of(op);
        if (op.kind == OpKind::Store || criterion_ == Criterion::RobustPso) of_interest_[p] |= variables_of(op) & counts;
      }
    }
}

// Persistence is about the order of all stores: there it does not matter whether another process ever looks.
bool WalkText::is_delayable(const Edge& edge) const {
  if (edge.locked || edge.partner >= 0) return false;
  const std::uint64_t seen = used_by_others_[static_cast<std::size_t>(edge.process)];
  return std::any_of(edge.ops.begin(), edge.ops.end(), [&](const Op& op) {
    if (op.kind != OpKind::Store || op.locked) return false;
    return criterion_ == Criterion::Persistence || (variables_of(op) & seen) != 0;
  });
}

// Loads of these read the attacker's own store. Under PSO only the delayed variable is sure to stay pending.
std::uint64_t WalkText::surely_pending(const Op& store, bool is_delayed) const {
  const bool stays = is_delayed || delays_every_store_;
  const bool is_one = machine_.only_variable(store) >= 0 && machine_.variables <= 64;
  return stays && is_one ? variables_of(store) : 0;
}

// What a walk accesses on this edge. On its first edge nothing is crossed before the first store, and where that makes
// several stores, which of them is delayed is open.
WalkText::Along WalkText::along(const Edge& e, bool is_first, std::uint64_t pending) const {
  Along result{pending, 0, false};
  if (e.locked || e.partner >= 0) return result;
  const auto stores = std::count_if(e.ops.begin(), e.ops.end(), [](const Op& op) { return op.kind == OpKind::Store; });
  bool stored = !is_first;
  int part = 0;
  const auto passes_parts_before = [&](int end) {
    for (; part < end; ++part)
      if (stored && fenced_.contains({e.process, e.origin[static_cast<std::size_t>(part)]})) return false;
    return true;
  };
  for (const Op& op : e.ops) {
    if (!passes_parts_before(op.part)) return result;
    if (op.kind == OpKind::Mfence && !stored) continue;
    if (op.kind == OpKind::Mfence || op.kind == OpKind::Lock || op.kind == OpKind::Unlock) return result;
    if (op.kind == OpKind::Load) result.accessed |= variables_of(op) & ~result.pending;
    if (op.kind != OpKind::Store) continue;
    if (op.locked || (criterion_ == Criterion::Persistence && !delays_every_store_ && !is_first)) return result;
    const bool is_delayed = is_first && stores == 1;
    if (criterion_ == Criterion::RobustPso && !is_delayed) result.accessed |= variables_of(op) & ~result.pending;
    if (!is_first || is_delayed) result.pending |= surely_pending(op, is_delayed);
    stored = true;
  }
  result.goes_on = passes_parts_before(static_cast<int>(e.origin.size()));
  return result;
}

// Forward from the edge with the delayed store; a location met again with fewer stores surely pending is visited again.
std::uint64_t WalkText::reach_from(int attacker, const Edge* first, int location) const {
  const auto process = static_cast<std::size_t>(attacker);
  std::vector<std::uint64_t> pending(within_reach_[process].size(), ~std::uint64_t{0});
  std::vector<bool> is_reached(pending.size(), false);
  std::vector<int> todo;
  std::uint64_t found = 0;
  const auto take = [&](const Edge& e, const Along& step) {
    found |= step.accessed;
    const auto target = static_cast<std::size_t>(e.target);
    if (!step.goes_on || (is_reached[target] && (pending[target] & step.pending) == pending[target])) return;
    is_reached[target] = true;
    pending[target] &= step.pending;
    todo.push_back(e.target);
  };
  if (first) {
    take(*first, along(*first, true, 0));
  } else {
    pending[static_cast<std::size_t>(location)] = 0;
    is_reached[static_cast<std::size_t>(location)] = true;
    todo.push_back(location);
  }
  while (!todo.empty()) {
    const auto here = static_cast<std::size_t>(todo.back());
    todo.pop_back();
    for (const int number : machine_.leaving[process][here]) {
      const Edge& e = machine_.edges[static_cast<std::size_t>(number)];
      take(e, along(e, false, pending[here]));
    }
  }
  return found;
}

void WalkText::solve(int process) {
  const auto p = static_cast<std::size_t>(process);
  std::fill(within_reach_[p].begin(), within_reach_[p].end(), 0);
  if (criterion_ != Criterion::Persistence)
    for (std::size_t at = 0; at < ahead_of_[p].size(); ++at)
      ahead_of_[p][at] = reach_from(process, nullptr, static_cast<int>(at)) & of_interest_[p];
  for (const int number : machine_.processes[p].edges) {
    const Edge& e = machine_.edges[static_cast<std::size_t>(number)];
    if (!is_delayable(e)) continue;
    std::uint64_t& here = within_reach_[p][static_cast<std::size_t>(e.source)];
    here |= reach_from(process, &e, e.source) & of_interest_[p];
    // The stores of one step commit one by one: an early one is an end event for those behind it.
    const auto stores = std::count_if(e.ops.begin(), e.ops.end(), [](const Op& op) { return op.kind == OpKind::Store; });
    if (stores > 1 && criterion_ != Criterion::Persistence) here |= used_by_others_[p];
  }
}

}  // namespace memfence
