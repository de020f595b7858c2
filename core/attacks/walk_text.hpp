// What an attack can come to by a look at the program text alone: a filter before any walk is tried.
//
// Fences do not change what SC reaches, so that a clause of one transition, once it is known, may be treated as a fence that
// stands there already: every later attack across it says less. After the last such clause was found the filter turns most
// states away, and an exploration that collects clauses costs hardly more than one that looks for nothing.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "attacks/attack.hpp"
#include "attacks/end_event.hpp"

namespace memfence {

class WalkText {
 public:
  // `changing`: the variables that any step can change.
  WalkText(const Machine& m, Criterion criterion, const std::vector<bool>& changing);

  // From now on no walk goes on behind this transition.
  void fence(int process, int transition);

  // Variables modulo 64, as bits: those that a walk which delays a store at the location can access in memory.
  std::uint64_t within_reach(int process, Value location) const {
    return within_reach_[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)];
  }
  // Those that a walk which has come to the location can still access there.
  std::uint64_t ahead_of(int process, Value location) const {
    return ahead_of_[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)];
  }
  // Those that a step from the location can write.
  std::uint64_t written_from(int process, Value location) const {
    return written_from_[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)];
  }
  // Those whose access by the process in a walk can conflict with another process; those that others access at all.
  std::uint64_t of_interest(int process) const { return of_interest_[static_cast<std::size_t>(process)]; }
  std::uint64_t used_by_others(int process) const { return used_by_others_[static_cast<std::size_t>(process)]; }
  bool is_delayable(const Edge& edge) const;
  std::uint64_t variables_of(const Op& op) const;
  static std::uint64_t bit(int variable) { return std::uint64_t{1} << (variable & 63); }

 private:
  using Masks = std::vector<std::vector<std::uint64_t>>;  // [process][location]

  // What is known along a walk: variables of which a store must be pending, and what was accessed in memory.
  struct Along {
    std::uint64_t pending, accessed;
    bool goes_on;
  };
  Along along(const Edge& edge, bool is_first, std::uint64_t pending) const;
  // From the edge with the delayed store, or from a location on the way.
  std::uint64_t reach_from(int process, const Edge* first, int location) const;
  std::uint64_t surely_pending(const Op& store, bool is_delayed) const;
  void note_regions();
  void note_others(const std::vector<bool>& changing);
  void solve(int process);

  const Machine& machine_;
  Criterion criterion_;
  bool delays_every_store_;
  std::set<std::pair<int, int>> fenced_;
  Masks within_reach_, ahead_of_, written_from_;
  std::vector<std::uint64_t> of_interest_;     // per process: accesses of these by it can conflict with another process
  std::vector<std::uint64_t> used_by_others_;  // per process: what others access at all
};

}  // namespace memfence
