// Attacks: how one process alone can show, from a state that SC reaches, that a store of its can be overtaken.
//
// DESIGN 7. The attacker delays a store and walks on alone; what it does then ends in *end events*, accesses that could
// take effect before the delayed store. The three criteria differ in what the walk may contain:
//   persistence      no further store; the end event is a read of memory;
//   robustness, TSO  later stores are delayed too (private overlay); the end event is a read of memory;
//   robustness, PSO  only stores to the delayed variable are pending, other stores reach memory at once and are end events
//                    themselves, as are reads of memory; after an sfence every later store is pending.
// An mfence or a locked step ends the walk. `crossed` are the transitions the attacker completed from the delayed store
// on: a fence behind any of them would have stopped this walk.
#pragma once

#include <map>
#include <vector>

#include "memfence/execute.hpp"

namespace memfence {

enum class Criterion : std::int32_t { Persistence, RobustTso, RobustPso };

struct EndEvent {
  int delayed;      // variable of the first delayed store
  int variable;     // variable of the end event
  bool is_store;    // PSO: a store that reached memory
  std::vector<int> crossed;  // sorted transition numbers of the attacker
  std::vector<int> edges;    // the walk: edges completed, then the one in which the end event happens
  std::vector<std::pair<int, Value>> memory;  // PSO: variables that the walk changed in memory

  friend auto operator<=>(const EndEvent&, const EndEvent&) = default;
};

class AttackWalk {
 public:
  AttackWalk(const Machine& m, Criterion criterion) : machine_(m), criterion_(criterion) {}

  // Every end event of process `attacker` from the state in `w`, with minimal sets of crossed transitions. `w` is left as
  // it was. Deterministic order.
  const std::vector<EndEvent>& run(Work& w, int attacker);

  // Whether a store can be the next step of the process at this location.
  bool can_start(int process, Value location) const;

 private:
  struct Overlay;
  void start(Work& w, int attacker, const Edge& edge);
  void walk(Work& w, int attacker, Overlay& overlay, std::vector<int>& crossed, std::vector<int>& path);
  void run_ops(Work& w, const Edge& edge, Overlay& overlay, std::vector<int> crossed, std::vector<int>& path);
  void add(const Overlay& overlay, int variable, bool is_store, const std::vector<int>& crossed,
           const std::vector<int>& path);

  const Machine& machine_;
  Criterion criterion_;
  std::vector<EndEvent> ends_;
  std::map<std::vector<Value>, std::vector<std::vector<int>>> visited_;  // local state -> minimal crossed sets seen
};

}  // namespace memfence
