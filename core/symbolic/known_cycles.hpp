// The cycles found so far, and where each may be tried again.
//
// A local cycle depends on its process and on the memory it reads: it is tried wherever the process stands at the same
// location with the same registers. Any other cycle is tried on its *base*: the same control part and the same languages
// of all other buffers, since elsewhere it may not be possible. A trial is always checked by Cycles::saturate.
#pragma once

#include "machine/machine.hpp"
#include "symbolic/cycles.hpp"

namespace memfence {

class KnownCycles {
 public:
  KnownCycles(const Machine& m, Cycles& cycles) : machine_(m), cycles_(cycles) {
    for (const Process& p : m.processes) is_place_.emplace_back(static_cast<std::size_t>(p.locations), std::uint8_t{0});
  }

  void remember(const Value* row, int cycle);
  // All cycles worth trying for the buffer of `process` in `row`.
  std::vector<int> candidates(const Value* row, int process) const;

  struct Saturated {
    Language language;
    int set;
  };
  // `row`'s language of the process, closed under as many of the candidates as can be repeated together; cycles in
  // `first` are tried before the others. Nothing if no candidate can.
  std::optional<Saturated> saturate(const Value* row, int process, Language context, const std::vector<int>& first);

 private:
  static constexpr std::size_t kMostCycles = 12;  // at one place

  using Key = std::vector<Value>;
  Key local_key(const Value* row, int process) const;
  Key base_key(const Value* row, int process) const;

  const Machine& machine_;
  Cycles& cycles_;
  std::map<Key, std::vector<int>> local_, base_;
  std::vector<std::vector<std::uint8_t>> is_place_;  // [process][location]: some cycle was found here
};

}  // namespace memfence
