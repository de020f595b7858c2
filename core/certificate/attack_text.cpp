#include "certificate/attack_text.hpp"

#include <algorithm>

namespace memfence::certificate {

namespace {

bool is_access(const Op& op) { return op.kind == OpKind::Load || op.kind == OpKind::Store || op.kind == OpKind::Modify; }

// The variables that an op may access, first and behind the last.
std::pair<int, int> variables_of(const Program& program, const Op& op) {
  const Node& index = program.nodes[static_cast<std::size_t>(op.index)];
  const bool is_one = index.kind == Node::Kind::Constant && index.value >= 0 && index.value < op.size;
  const int first = is_one ? op.base + static_cast<int>(index.value) : op.base;
  return {first, is_one ? first + 1 : op.base + op.size};
}

bool ends_walk(const Transition& t) {
  return t.locked || t.takes_bus ||
         std::any_of(t.ops.begin(), t.ops.end(), [](const Op& op) { return op.kind == OpKind::Mfence; });
}

}  // namespace

AttackText::AttackText(const Program& program) : numbers_(program.variables.size(), -1) {
  number(program);
  for (const Process& process : program.processes) {
    ahead_.push_back(closed(program, process, false));
    walk_.push_back(closed(program, process, true));
    std::vector<std::vector<int>>& starts = starts_.emplace_back(process.locations.size());
    for (std::size_t n = 0; n < process.transitions.size(); ++n) {
      const Transition& t = process.transitions[n];
      if (!t.locked && !t.takes_bus && accessed(program, t).written.any())
        starts[static_cast<std::size_t>(t.source)].push_back(static_cast<int>(n));
    }
  }
}

void AttackText::number(const Program& program) {
  std::vector<int> users(program.variables.size(), -1);  // the only process that accesses it; -2: several
  for (int p = 0; p < static_cast<int>(program.processes.size()); ++p)
    for (const Transition& t : program.processes[static_cast<std::size_t>(p)].transitions)
      for (const Op& op : t.ops) {
        if (!is_access(op)) continue;
        const auto [first, end] = variables_of(program, op);
        for (int v = first; v < end; ++v) {
          int& user = users[static_cast<std::size_t>(v)];
          user = user == -1 || user == p ? p : -2;
        }
      }
  for (std::size_t v = 0; v < users.size(); ++v)
    if (users[v] == -2) numbers_[v] = shared_++;
  if (static_cast<std::size_t>(shared_) > SharedSet::kMost) throw Unsupported("too many variables are shared");
}

AccessedSets AttackText::accessed(const Program& program, const Transition& transition) const {
  AccessedSets sets;
  for (const Op& op : transition.ops) {
    if (!is_access(op)) continue;
    const auto [first, end] = variables_of(program, op);
    for (int v = first; v < end; ++v) {
      const int number = number_of(v);
      if (number < 0) continue;
      if (op.kind != OpKind::Store) sets.read.add(number);
      if (op.kind != OpKind::Load) sets.written.add(number);
    }
  }
  return sets;
}

// By location: what the steps from there access, and those behind them.
std::vector<AccessedSets> AttackText::closed(const Program& program, const Process& process, bool is_walk) const {
  std::vector<AccessedSets> sets(process.locations.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Transition& t : process.transitions) {
      if (is_walk && ends_walk(t)) continue;
      AccessedSets& here = sets[static_cast<std::size_t>(t.source)];
      const AccessedSets before = here;
      here |= accessed(program, t);
      here |= sets[static_cast<std::size_t>(t.target)];
      changed |= here != before;
    }
  }
  return sets;
}

}  // namespace memfence::certificate
