// Torn steps: a plain step with several stores is atomic under SC; under TSO its stores commit one by one.
//
// For persistence (program order and store order) such a step is fragile as soon as, between two of its commits, another
// process can get a store into the store order, or can read values that no moment before or after the whole step shows.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "attacks/atomic_event.hpp"
#include "models/sc.hpp"

namespace memfence {

struct Torn {
  int edge;              // the step that is torn
  int early;             // how many of its stores have committed
  int committed;         // variable of the last of these
  int delayed;           // variable of the next
  bool is_store_before;  // the other's step is a store that was taken before the torn step, and commits now
  std::vector<HelperStep> others;
};

class TornSteps {
 public:
  TornSteps(const Machine& m, std::shared_ptr<Budget> budget);

  // Whether any step from this location could be torn: a look at the text.
  bool is_possible(int process, Value location) const {
    return possible_[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)] != 0;
  }
  bool is_possible_anywhere(int process) const {
    const auto& places = possible_[static_cast<std::size_t>(process)];
    return std::any_of(places.begin(), places.end(), [](auto possible) { return possible != 0; });
  }
  // A step of `process` that another process can tear, in the state in `w`, which is left as it was.
  std::optional<Torn> find(Work& w, int process);

 private:
  struct Written {
    int variable;
    Value value;
  };
  std::optional<Torn> tear(Work& w, const Edge& edge, const std::vector<Written>& stores);
  // A step of `process` that stores plainly, possible now; or -1.
  int storing_edge(Work& w, int process);
  // A walk of `process` alone, between the commits, that ends in a store or in reads that fit no moment of an SC run.
  bool contradicts(Work& w, int process, const std::vector<Value>& before, const std::vector<Value>& after,
                   std::vector<HelperStep>& walk);

  const Machine& machine_;
  Sc sc_;
  std::vector<std::vector<std::uint8_t>> possible_;
  std::vector<Access> accesses_;
  AtomicEvents events_;
};

}  // namespace memfence
