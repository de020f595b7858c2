#include "attacks/known_values.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace memfence {

std::optional<Wide> KnownValues::evaluate(const Machine& m, int expression, bool& fails) const {
  thread_local std::vector<Value> slots;  // only known ones are ever read
  slots.resize(m.slots.size());
  const Expression& e = m.expressions[static_cast<std::size_t>(expression)];
  for (const int slot : e.slots_read()) {
    const auto known = values_.find(slot);
    if (known == values_.end()) return std::nullopt;
    slots[static_cast<std::size_t>(slot)] = known->second;
  }
  bool failed = false;
  const Wide value = e.evaluate(slots.data(), failed);
  fails |= failed;
  return failed ? std::nullopt : std::optional<Wide>(value);
}

std::optional<int> KnownValues::variable(const Machine& m, const Op& op, bool& fails) const {
  const auto index = evaluate(m, op.index, fails);
  if (!index) return std::nullopt;
  if (*index >= 0 && *index < op.size) return op.base + static_cast<int>(*index);
  fails = true;
  return std::nullopt;
}

void KnownValues::assign(const Machine& m, int slot, std::optional<Wide> value) {
  Value fitting = 0;
  if (value && m.slots[static_cast<std::size_t>(slot)].fit(*value, fitting))
    values_[slot] = fitting;
  else
    values_.erase(slot);
}

std::optional<Value> first_value(const Machine& m, int variable) {
  const auto slot = static_cast<std::size_t>(variable);
  const Value first = m.initial.front()[slot];
  const bool is_one = std::all_of(m.initial.begin(), m.initial.end(), [&](const auto& state) { return state[slot] == first; });
  return is_one ? std::optional<Value>(first) : std::nullopt;
}

namespace {

class OwnStores {
 public:
  OwnStores(const Machine& m, std::vector<bool>& changing) : machine_(m), changing_(changing) {}

  // Every store that the process can make.
  void follow(int process) {
    if (!follow_values(process)) follow_text(process);
  }

 private:
  using Place = std::pair<int, KnownValues>;  // location, registers
  static constexpr std::size_t kMostPlaces = 20000;

  bool follow_values(int process) {
    const Process& p = machine_.processes[static_cast<std::size_t>(process)];
    std::set<Place> seen;
    std::vector<Place> todo;
    const auto arrive = [&](Place place) {
      if (const auto [entry, is_new] = seen.insert(std::move(place)); is_new) todo.push_back(*entry);
    };
    for (const auto& state : machine_.initial) {
      KnownValues registers;
      for (int slot = p.pending_slot + 1; slot <= p.pending_slot + p.registers; ++slot)
        registers.assign(machine_, slot, state[static_cast<std::size_t>(slot)]);
      arrive({state[static_cast<std::size_t>(p.location_slot)], std::move(registers)});
    }
    while (!todo.empty()) {
      if (seen.size() > kMostPlaces) return false;
      const auto [location, registers] = std::move(todo.back());
      todo.pop_back();
      for (const int number : machine_.leaving[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)]) {
        const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
        KnownValues after = registers;
        if (!run(edge, after)) continue;
        for (const int slot : p.scratch_slots) after.forget(slot);
        arrive({edge.target, std::move(after)});
      }
    }
    return true;
  }

  // Whether the step may be completed.
  bool run(const Edge& edge, KnownValues& at) {
    bool fails = false;
    for (const Op& op : edge.ops) {
      if (op.kind == OpKind::Load) at.assign(machine_, op.slot, std::nullopt);
      if (op.kind == OpKind::Assign) at.assign(machine_, op.slot, at.evaluate(machine_, op.value, fails));
      if (op.kind == OpKind::Store) {
        const auto variable = at.variable(machine_, op, fails);
        const auto value = at.evaluate(machine_, op.value, fails);
        if (!fails) note(op, variable, value);
      }
      if (op.kind == OpKind::Assume || op.kind == OpKind::Assert) {
        const auto truth = at.evaluate(machine_, op.value, fails);
        if (truth && *truth == 0) return false;
      }
      if (fails) return false;
    }
    return true;
  }

  void follow_text(int process) {
    const KnownValues nothing;
    bool fails = false;
    for (const Edge& edge : machine_.edges)
      for (const Op& op : edge.ops)
        if (op.kind == OpKind::Store && op.process == process)
          note(op, nothing.variable(machine_, op, fails), nothing.evaluate(machine_, op.value, fails));
  }

  void note(const Op& op, std::optional<int> variable, std::optional<Wide> value) {
    const int first = variable ? *variable : op.base;
    const int end = variable ? first + 1 : op.base + op.size;
    for (int v = first; v < end; ++v) {
      Value fitting = 0;
      const auto before = first_value(machine_, v);
      const bool is_same =
          value && before && machine_.slots[static_cast<std::size_t>(v)].fit(*value, fitting) && fitting == *before;
      if (!is_same) changing_[static_cast<std::size_t>(v)] = true;
    }
  }

  const Machine& machine_;
  std::vector<bool>& changing_;
};

}  // namespace

// Steps of two processes at once, and errors after which a run goes on, are not followed.
std::vector<bool> changing_variables(const Machine& m) {
  const bool is_simple = m.error.empty() && m.failed.empty() && !m.initial.empty() &&
                         std::none_of(m.edges.begin(), m.edges.end(), [](const Edge& e) { return e.partner >= 0; });
  std::vector<bool> changing(static_cast<std::size_t>(m.variables), !is_simple);
  if (!is_simple) return changing;
  OwnStores stores(m, changing);
  for (int p = 0; p < static_cast<int>(m.processes.size()); ++p) stores.follow(p);
  return changing;
}

}  // namespace memfence
