// State-robustness, exactly as defined: every state with empty buffers that the relaxed model reaches is reached under SC.
//
// First all SC states, then the states of TSO(k) or PSO(k), with an observer that looks up the drained ones. No reductions:
// registers and locations are part of a state, and every one of them counts.
#pragma once

#include "search/exploration.hpp"

namespace memfence {

// Every SC-reachable state, for look-up. The machine must say where processes go that fail (Machine::failed).
class ScStates {
 public:
  ScStates(std::shared_ptr<const Machine> machine, const Limits& limits, int threads);
  ~ScStates();

  // Whether SC reaches a state with these values of the machine's own slots. `scratch` is where it is packed.
  bool contains(const Value* slots, std::vector<std::uint64_t>& scratch) const;

  Stop stop() const;
  const SearchStats& stats() const;

 private:
  struct Search;
  std::unique_ptr<const Search> search_;
};

struct NonScResult {
  std::unique_ptr<Exploration> exploration;
  std::optional<Index> non_sc;
};

NonScResult explore_non_sc_states(std::shared_ptr<const Machine> machine, const Model& model, const ScStates& sc,
                                  const Limits& limits, int threads);

}  // namespace memfence
