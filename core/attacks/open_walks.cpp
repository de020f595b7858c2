#include "attacks/open_walks.hpp"

#include <algorithm>

namespace memfence {

OpenWalks::OpenWalks(const Machine& m, Criterion criterion, const WalkText& text, std::vector<bool> changing)
    : machine_(m),
      criterion_(criterion),
      text_(text),
      delays_every_store_(delays_every_store(m, criterion)),
      changing_(std::move(changing)) {}

bool OpenWalks::exist(int process, const std::vector<Crossed>& known) {
  const auto p = static_cast<std::size_t>(process);
  known_ = &known;
  left_ = kMostPlaces;
  seen_.clear();
  todo_.clear();
  for (const int number : machine_.processes[p].edges) {
    const Edge& e = machine_.edges[static_cast<std::size_t>(number)];
    if (!text_.is_delayable(e)) continue;
    const auto stores = std::count_if(e.ops.begin(), e.ops.end(), [](const Op& op) { return op.kind == OpKind::Store; });
    // The stores of one step commit one by one: an early one is an end event for those behind it.
    if (stores > 1 && criterion_ != Criterion::Persistence && text_.used_by_others(process) != 0) return true;
    if (!take(e, true, Place{e.source, {}, {}, {}})) return true;
  }
  while (!todo_.empty()) {
    const Place here = std::move(todo_.back());
    todo_.pop_back();
    for (const int number : machine_.leaving[p][static_cast<std::size_t>(here.location)])
      if (!take(machine_.edges[static_cast<std::size_t>(number)], false, here)) return true;
  }
  return false;
}

// An address that depends on a register which may be anything: the walk goes on with each value, and remembers it.
bool OpenWalks::take(const Edge& edge, bool is_first, const Place& from) {
  if (--left_ < 0) return false;
  if (edge.locked || edge.partner >= 0) return true;
  if (const auto slot = open_register(edge, from)) {
    const Slot& domain = machine_.slots[static_cast<std::size_t>(*slot)];
    for (Wide value = domain.lo; value <= domain.hi; ++value) {
      Place with = from;
      with.registers.assign(machine_, *slot, value);
      if (!take(edge, is_first, with)) return false;
    }
    return true;
  }
  Place at = from;
  const Step step = run(edge, is_first, at);
  if (step == Step::GoesOn) {
    at.location = edge.target;
    for (const int slot : machine_.processes[static_cast<std::size_t>(edge.process)].scratch_slots) at.registers.forget(slot);
    if (const auto [place, is_new] = seen_.insert(std::move(at)); is_new) todo_.push_back(*place);
  }
  return step != Step::Conflicts;
}

// Only registers that the step itself does not set before: those have the value they had.
std::optional<int> OpenWalks::open_register(const Edge& edge, const Place& at) const {
  std::set<int> is_set;
  for (const Op& op : edge.ops) {
    if (op.kind == OpKind::Load || op.kind == OpKind::Store)
      for (const int slot : machine_.expressions[static_cast<std::size_t>(op.index)].slots_read()) {
        const Slot& domain = machine_.slots[static_cast<std::size_t>(slot)];
        const bool is_small = Wide{domain.hi} - domain.lo < kMostValues;
        const Process& process = machine_.processes[static_cast<std::size_t>(edge.process)];
        const bool is_own = slot > process.pending_slot && slot <= process.pending_slot + process.registers;
        if (is_own && is_small && !is_set.contains(slot) && !at.registers.has(slot)) return slot;
      }
    if (op.kind == OpKind::Load || op.kind == OpKind::Assign) is_set.insert(op.slot);
  }
  return std::nullopt;
}

// On its first edge nothing is crossed before the first store; where that makes several, which is delayed is open.
OpenWalks::Step OpenWalks::run(const Edge& edge, bool is_first, Place& at) {
  const auto stores = std::count_if(edge.ops.begin(), edge.ops.end(), [](const Op& op) { return op.kind == OpKind::Store; });
  bool stored = !is_first;
  int part = 0;
  const auto passes_parts_before = [&](int end) {
    for (; part < end; ++part)
      if (stored && !cross(edge.origin[static_cast<std::size_t>(part)], at)) return false;
    return true;
  };
  for (const Op& op : edge.ops) {
    if (!passes_parts_before(op.part)) return Step::Ends;
    if (op.kind == OpKind::Mfence && !stored) continue;
    const Step step = run_op(edge, op, is_first, stores == 1, at);
    if (step != Step::GoesOn) return step;
    stored |= op.kind == OpKind::Store;
  }
  return passes_parts_before(static_cast<int>(edge.origin.size())) ? Step::GoesOn : Step::Ends;
}

OpenWalks::Step OpenWalks::run_op(const Edge& edge, const Op& op, bool is_first, bool is_only_store, Place& at) {
  bool fails = false;
  switch (op.kind) {
    case OpKind::Load: return load(op, at);
    case OpKind::Store: {
      const bool ends_here = criterion_ == Criterion::Persistence && !delays_every_store_ && !is_first;
      return op.locked || ends_here ? Step::Ends : store(op, is_first && is_only_store, is_first, at);
    }
    case OpKind::Assign: {
      at.registers.assign(machine_, op.slot, at.registers.evaluate(machine_, op.value, fails));
      return fails ? Step::Ends : Step::GoesOn;
    }
    case OpKind::Assume:
    case OpKind::Assert: {
      const auto truth = at.registers.evaluate(machine_, op.value, fails);
      return fails || (truth && *truth == 0) ? Step::Ends : Step::GoesOn;
    }
    case OpKind::Sfence: return Step::GoesOn;
    case OpKind::Mfence:
    case OpKind::Lock:
    case OpKind::Unlock: break;
  }
  return Step::Ends;
}

OpenWalks::Step OpenWalks::load(const Op& op, Place& at) {
  bool fails = false;
  bool is_sure = true;
  if (op.when >= 0) {
    const auto wanted = at.registers.evaluate(machine_, op.when, fails);
    if (wanted && *wanted == 0 && !fails) {
      at.registers.assign(machine_, op.slot, 0);
      return Step::GoesOn;
    }
    if (fails) return Step::Ends;
    is_sure = wanted.has_value();
  }
  const auto variable = at.registers.variable(machine_, op, fails);
  if (fails && is_sure) return Step::Ends;
  if (fails) {  // if it is not to be made, it does not fail
    at.registers.assign(machine_, op.slot, std::nullopt);
    return Step::GoesOn;
  }
  if (const auto own = variable ? at.pending.find(*variable) : at.pending.end(); own != at.pending.end()) {
    at.registers.assign(machine_, op.slot, is_sure && own->second ? std::optional<Wide>(*own->second) : std::nullopt);
    return Step::GoesOn;
  }
  if (is_of_interest(op, variable)) return Step::Conflicts;
  at.registers.assign(machine_, op.slot, is_sure && variable ? only_value(*variable) : std::nullopt);
  return Step::GoesOn;
}

std::optional<Value> OpenWalks::only_value(int variable) const {
  return changing_[static_cast<std::size_t>(variable)] ? std::nullopt : first_value(machine_, variable);
}

// Under PSO only the delayed variable is sure to stay pending, and any other store may reach memory first.
OpenWalks::Step OpenWalks::store(const Op& op, bool is_delayed, bool is_first, Place& at) {
  bool fails = false;
  const auto variable = at.registers.variable(machine_, op, fails);
  const auto wide = at.registers.evaluate(machine_, op.value, fails);
  if (fails) return Step::Ends;
  if (criterion_ == Criterion::RobustPso && !is_delayed && is_of_interest(op, variable)) return Step::Conflicts;
  for (auto& [other, value] : at.pending)
    if (!variable || other == *variable) value.reset();
  const bool stays = is_delayed || (delays_every_store_ && !is_first);
  if (!stays || !variable) return Step::GoesOn;
  Value fitting = 0;
  std::optional<Value> value;
  if (wide) {
    if (!machine_.slots[static_cast<std::size_t>(*variable)].fit(*wide, fitting)) return Step::Ends;
    value = fitting;
  }
  at.pending[*variable] = value;
  return Step::GoesOn;
}

bool OpenWalks::cross(int transition, Place& at) const {
  auto& crossed = at.crossed;
  const auto place = std::lower_bound(crossed.begin(), crossed.end(), transition);
  if (place == crossed.end() || *place != transition) crossed.insert(place, transition);
  return std::none_of(known_->begin(), known_->end(), [&](const Crossed& clause) {
    return clause.some.empty() && std::includes(crossed.begin(), crossed.end(), clause.all.begin(), clause.all.end());
  });
}

bool OpenWalks::is_of_interest(const Op& op, std::optional<int> variable) const {
  const std::uint64_t accessed = variable ? WalkText::bit(*variable) : text_.variables_of(op);
  return (accessed & text_.of_interest(op.process)) != 0;
}

}  // namespace memfence
