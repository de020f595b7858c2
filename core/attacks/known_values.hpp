// What is known of a process's registers where nothing is known of memory and of the others.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "machine/machine.hpp"

namespace memfence {

class KnownValues {
 public:
  // The value, where everything that it is computed from is known. `fails`: it cannot be computed.
  std::optional<Wide> evaluate(const Machine& m, int expression, bool& fails) const;
  // The variable of a load or store, where it is sure; nothing if it may be several.
  std::optional<int> variable(const Machine& m, const Op& op, bool& fails) const;
  void assign(const Machine& m, int slot, std::optional<Wide> value);
  void forget(int slot) { values_.erase(slot); }
  bool has(int slot) const { return values_.contains(slot); }
  friend auto operator<=>(const KnownValues&, const KnownValues&) = default;

 private:
  std::map<int, Value> values_;  // by slot
};

// What the variable holds in every initial state, where that is one value.
std::optional<Value> first_value(const Machine& m, int variable);

// Per variable: whether any step can give it another value than it has. Each process is followed through its text alone,
// with any value for what it loads: every store it can make is one that it makes here.
std::vector<bool> changing_variables(const Machine& m);

}  // namespace memfence
