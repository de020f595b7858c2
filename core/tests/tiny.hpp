// Small machines for tests, put together by hand.
#pragma once

#include <algorithm>
#include <memory>

#include "machine/machine.hpp"

namespace memfence::test {

inline constexpr Value kConst = static_cast<Value>(Code::Const), kSlot = static_cast<Value>(Code::Slot);

// Slots: the variables (`lowest`..`highest`), then for each process location, pending, registers (the same values).
class MachineBuilder {
 public:
  explicit MachineBuilder(int variables, Value highest = 3) : MachineBuilder(variables, 0, highest) {}
  MachineBuilder(int variables, Value lowest, Value highest) : lowest_(lowest), highest_(highest) {
    machine_.variables = variables;
    machine_.lock_slot = -1;
    machine_.has_committed = false;
    machine_.slots.assign(static_cast<std::size_t>(variables), Slot{lowest, highest});
  }

  int process(int locations, int registers) {
    const int first = static_cast<int>(machine_.slots.size());
    machine_.slots.push_back(Slot{0, locations - 1});
    machine_.slots.push_back(Slot{0, 0});
    for (int i = 0; i < registers; ++i) machine_.slots.push_back(Slot{lowest_, highest_});
    const auto none = std::vector<std::uint8_t>(static_cast<std::size_t>(locations), 0);
    machine_.processes.push_back({first, first + 1, locations, registers, {}, {}, {}, none, none, false});
    return static_cast<int>(machine_.processes.size()) - 1;
  }

  int expression(std::vector<Value> code) {
    machine_.expressions.emplace_back(std::move(code));
    return static_cast<int>(machine_.expressions.size()) - 1;
  }
  int constant(Value value) { return expression({kConst, value}); }

  Process& at(int process) { return machine_.processes[static_cast<std::size_t>(process)]; }
  int register_slot(int process, int number = 0) { return at(process).location_slot + 2 + number; }
  int location_slot(int process) { return at(process).location_slot; }

  Op store(int process, int variable, Value value) {
    auto& stored = at(process).stored_variables;
    if (std::find(stored.begin(), stored.end(), variable) == stored.end()) stored.push_back(variable);
    std::sort(stored.begin(), stored.end());
    return {OpKind::Store, process, false, 0, variable, 1, constant(0), constant(value), -1, 0};
  }
  Op load(int process, int variable, int number = 0) {
    return {OpKind::Load, process, false, register_slot(process, number), variable, 1, constant(0), 0, -1, 0};
  }
  Op assume(int process, int condition) { return {OpKind::Assume, process, false, 0, 0, 0, 0, condition, -1, 0}; }
  Op fence(int process) { return {OpKind::Mfence, process, false, 0, 0, 0, 0, 0, -1, 0}; }
  Op separator(int process) {
    at(process).uses_sfence = true;
    return {OpKind::Sfence, process, false, 0, 0, 0, 0, 0, -1, 0};
  }

  void edge(int process, int source, int target, std::vector<Op> ops, bool locked = false) {
    const int number = static_cast<int>(machine_.edges.size()), required = static_cast<int>(ops.size());
    at(process).edges.push_back(number);
    machine_.edges.push_back({process, source, target, locked, -1, 0, 0, false, std::move(ops), {number}, required});
  }
  // One op after the other, from location 0 on.
  void sequence(int process, const std::vector<Op>& ops) {
    for (std::size_t i = 0; i < ops.size(); ++i) edge(process, static_cast<int>(i), static_cast<int>(i) + 1, {ops[i]});
  }

  std::shared_ptr<const Machine> build() {
    if (machine_.initial.empty()) machine_.initial.push_back(std::vector<Value>(machine_.slots.size(), 0));
    machine_.finish();
    return std::make_shared<const Machine>(machine_);
  }

 private:
  Machine machine_;
  Value lowest_, highest_;
};

}  // namespace memfence::test
