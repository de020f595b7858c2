// Attacks: how one process alone can show, from a state that SC reaches, that a store of its can be overtaken.
//
// docs/theory/criteria.md. The attacker delays a store and walks on alone; what it does then ends in an *end event*, a
// step with accesses that take effect before the delayed store. The three criteria differ in what the walk may contain:
//   persistence      the end event is a read of memory that another process can change at once. No further store: a step
//                    that writes is possible whatever is pending, so that all stores but the last may have reached memory
//                    before. Where some step writes depending on another variable (a lock region, `if (y == 2) x = 1` in
//                    one step) that is not so: later stores are delayed, too;
//   robustness, TSO  later stores are delayed too (private overlay); the end event is a read of memory;
//   robustness, PSO  only stores to the delayed variable are pending, other stores reach memory at once and are end events
//                    themselves, as are reads of memory; after an sfence every later store is pending.
// The others may take steps in between, if these happen after something that the attacker did in its walk: such a step
// could not have been taken before the walk began, all others could. So a walk can be resumed (`Pause`) where others have
// changed what it sees. (An attacker that walks alone to its end event, with only that event starting the chain, would miss
// attacks of a process that reads one variable twice, the second time with the value that another wrote meanwhile.)
// An mfence or a locked step ends the walk. `crossed` are the transitions the attacker completed from the delayed store
// on: a fence behind any of them would have stopped this walk.
//
// A step is atomic under SC, whatever it contains, but not under TSO and PSO: its loads happen when it is taken, its stores
// one by one later. So the step that makes the delayed store can be its own end event, by what it read (`x := x + 1`), or
// by a store of it that has reached memory before the delayed one. No fence helps against that: nothing was crossed.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "attacks/end_event.hpp"
#include "attacks/trail.hpp"
#include "machine/execute.hpp"
#include "search/limits.hpp"

namespace memfence {

// Whether all stores of a walk stay pending, not only its first.
bool delays_every_store(const Machine& m, Criterion criterion);

// What the attacker alone knows, somewhere on its walk: its view of memory. Pending stores are kept apart, newest value a
// variable.
struct Overlay {
  Criterion criterion;
  bool ends_at_store;      // persistence: no store may follow the step with the delayed one
  int early;               // how many stores of the first step go to memory before the delayed one
  int waiting = early;     // how many of these are still to come
  bool first_step = true;  // still in the step that makes the delayed store
  int delayed = -1;        // variable of the first delayed store, once it is issued
  bool separated = false;  // PSO: an sfence was passed, or one is imagined
  int separated_at = -1;   // where it was imagined
  std::vector<std::pair<int, Value>> pending = {};  // sorted by variable
  std::vector<std::pair<int, Value>> written = {};  // what reached memory since the walk began or was resumed, sorted
  Accesses accesses = {};                           // of memory, in the present step
  Accesses chain = {};                              // of memory, in completed steps

  // A memory policy for run_op.
  bool own(const Work& w, int process, int variable, Value& value);
  Outcome store(Work& w, int process, int variable, Value value);
  bool drained(const Work&, int) const { return delayed < 0; }
  void passed_fence(Work&, int) const {}
  // Ahead of the delayed store an sfence separates nothing: all before it has reached memory.
  Outcome separate(Work&, int) {
    separated |= delayed >= 0;
    return Outcome::Done;
  }

 private:
  Outcome reach_memory(Work& w, int variable, Value value);
};

// Between two steps of a walk that has accessed memory.
struct Pause {
  int attacker;
  Value location;
  std::vector<Value> registers;
  Overlay overlay;
  Crossed crossed;
  Trail trail;
};

class AttackWalk {
 public:
  // With `every_fence`, also the walks that an sfence somewhere would leave: later stores stay pending. They matter only for
  // which fences stop all attacks, not for whether there is one.
  // A walk gives up, incomplete, when the budget is spent.
  AttackWalk(const Machine& m, Criterion criterion, bool every_fence, std::shared_ptr<Budget> budget)
      : machine_(m),
        criterion_(criterion),
        ends_at_store_(criterion == Criterion::Persistence && !delays_every_store(m, criterion)),
        every_fence_(every_fence),
        budget_(std::move(budget)),
        known_(m.processes.size()) {}

  struct Walked {
    std::vector<EndEvent> ends;  // in an order that depends on nothing else
    std::vector<Pause> pauses;   // robustness only
  };
  // Every end event of process `attacker` from the state in `w`, with minimal sets of crossed transitions. `w` is left as
  // it was.
  const Walked& run(Work& w, int attacker);
  // The same for a walk that goes on; the attacker's own part of `w` is that of the pause.
  const Walked& resume(Work& w, const Pause& pause);

  // Attacks of this process across all of `clause` are of no interest any more: fences must stop them anyway.
  void learn(int attacker, Crossed clause);
  bool is_known(int attacker, const Crossed& crossed) const;
  const std::vector<Crossed>& known(int attacker) const { return known_[static_cast<std::size_t>(attacker)]; }
  // Whether `clause` was learnt, and nothing within it.
  bool is_least(int attacker, const Crossed& clause) const;

 private:
  void start(Work& w, const Edge& edge);
  void walk(Work& w, int attacker, const Overlay& overlay, const Crossed& crossed, const Trail& trail);
  bool arrive(const Work& w, int attacker, const Overlay& overlay, const Crossed& crossed, const Trail& trail);
  bool run_ops(Work& w, const Edge& edge, Overlay& overlay, Crossed& crossed, const Trail& trail);
  static std::vector<Value> local_state(const Work& w, const Process& process);
  void add(const Overlay& overlay, const Crossed& crossed, const Trail& trail);
  void add(EndEvent event, const Trail& trail);

  // A place on the walk: the attacker's own slots, and how many of the ways on were tried.
  struct Place {
    std::vector<Value> local;
    Overlay overlay;
    Crossed crossed;
    Trail trail;
    std::size_t tried = 0;
  };

  const Machine& machine_;
  Criterion criterion_;
  bool ends_at_store_;
  bool every_fence_;
  std::shared_ptr<Budget> budget_;
  Walked found_;
  struct Seen {
    Crossed crossed;
    Accesses chain;
  };
  std::map<std::vector<Value>, std::vector<Seen>> visited_;  // local state -> ways to it that are not worse than another
  std::vector<std::vector<Crossed>> known_;                  // per attacker: clauses, none within another
};

// The end events of walks that were made before. A walk sees nothing but the attacker's location and registers, memory and
// the bus lock, and many states differ in the other processes only: on the persistence paper's programs nearly every walk
// is one of these, and looking it up costs a tenth of making it. The memo forgets everything when it is full.
class WalkMemo {
 public:
  explicit WalkMemo(const Machine& m) : machine_(m) {}

  // What `walk.run(w, attacker)` gives. The caller may remove what it never needs again.
  AttackWalk::Walked& run(AttackWalk& walk, Work& w, int attacker);

 private:
  struct Hash {
    std::size_t operator()(const std::vector<Value>& key) const;
  };
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  const Machine& machine_;
  std::vector<Value> key_;
  std::unordered_map<std::vector<Value>, AttackWalk::Walked, Hash> known_;
};

}  // namespace memfence
