// Every step from one state, under any memory model: edges first, then what the memory system does by itself.
//
// Partial order reduction. Where all edges that leave a process's location are private (register work, or stores into its
// own buffer), they commute with everything any other process or any buffer can do, and nothing else can enable or
// disable them. Taking them alone then loses no observed state. encode.py marks such locations; it leaves one location on
// every private cycle unmarked, so no step is postponed for ever (the cycle proviso, decided statically, docs/adr/0003:
// the same for any number of threads). A store refused by the bound of its buffer is not decided by the process alone:
// then the state is expanded fully.
//
// Delay bounding (Emmi, Qadeer and Rakamaric 2011). The machine may name a process whose turn it is (its program sets that
// itself). The first process from there on, in the order of their numbers, that can move, may do so; each one that is
// passed over costs a delay. What a buffer does is free.
#pragma once

#include <algorithm>

#include "models/policy.hpp"
#include "search/outcome.hpp"

namespace memfence {

// Sink: `void step(const Step&)` sees the successor in the work state; `void failed(const Step&)` a failure;
// `void refused()` a step that only a bound forbids.
template <MemoryModel Semantics>
class Successors {
 public:
  Successors(const Machine& m, const Semantics& s, bool reduce) : machine_(m), semantics_(s), reduce_(reduce) {}

  // Whether the steps are all that there are; if not, they are those of one process.
  template <class Sink>
  bool expand(Work& w, Sink& sink) const {
    const int processes = static_cast<int>(machine_.processes.size());
    if (machine_.most_delays >= 0) {
      expand_in_turn(w, sink);
      return true;
    }
    int done = -1;
    if (reduce_) {
      for (int p = 0; p < processes; ++p) {
        if (!is_private(w, p)) continue;
        const Tally tally = edges(w, p, sink);
        if (tally.taken + tally.refused == 0) continue;  // it hangs, for good: nothing was emitted
        if (tally.refused == 0) return false;
        done = p;  // its edges are out already; the others follow
        break;
      }
    }
    const bool committed = machine_.has_committed && any_committed(w);
    const Value owner = machine_.lock_slot < 0 ? 0 : w[machine_.lock_slot];
    for (int p = 0; p < processes; ++p) {
      if (owner == 0 || owner == p + 1) {
        const std::size_t mark = w.mark();
        semantics_.background(w, p, [&](int number) { sink.step(Step{StepKind::Background, p, number}); });
        w.rollback(mark);
      }
      if (p != done) edges(w, p, sink, committed);
    }
    return true;
  }

 private:
  struct Tally {
    int taken = 0, refused = 0;
  };

  // Hands on the steps that can be paid for.
  template <class Sink>
  struct Paying {
    const Machine& machine;
    Work& work;
    Sink& sink;
    int delays;

    void step(const Step& step) {
      const Value spent = work[machine.delays_slot] + delays;
      if (spent > machine.most_delays) return;
      work.set(machine.delays_slot, spent);
      sink.step(step);
    }
    void failed(const Step& step) { sink.failed(step); }
    void refused() { sink.refused(); }
  };

  template <class Sink>
  void expand_in_turn(Work& w, Sink& sink) const {
    const int processes = static_cast<int>(machine_.processes.size());
    const Value owner = machine_.lock_slot < 0 ? 0 : w[machine_.lock_slot];
    for (int p = 0; p < processes; ++p) {
      if (owner != 0 && owner != p + 1) continue;
      const std::size_t mark = w.mark();
      semantics_.background(w, p, [&](int number) { sink.step(Step{StepKind::Background, p, number}); });
      w.rollback(mark);
    }
    const int turn = static_cast<int>(w[machine_.turn_slot]);
    const Value left = machine_.most_delays - w[machine_.delays_slot];
    int passed = 0;
    for (int i = 0; i < processes && passed <= left; ++i) {
      Paying<Sink> paying{machine_, w, sink, passed};
      const Tally tally = edges(w, (turn + i) % processes, paying);
      if (tally.taken + tally.refused > 0) ++passed;
    }
  }

  bool is_private(const Work& w, int p) const {
    const Process& process = machine_.processes[static_cast<std::size_t>(p)];
    const auto kind = static_cast<Private>(process.is_private[static_cast<std::size_t>(w[process.location_slot])]);
    return kind == Private::Always || (kind == Private::WhenDrained && semantics_.drained(w, p));
  }
  bool is_committed(const Work& w, int p) const {
    const Process& process = machine_.processes[static_cast<std::size_t>(p)];
    return process.committed[static_cast<std::size_t>(w[process.location_slot])] != 0;
  }
  bool any_committed(const Work& w) const {
    for (int p = 0; p < static_cast<int>(machine_.processes.size()); ++p)
      if (is_committed(w, p)) return true;
    return false;
  }

  template <class Sink>
  Tally edges(Work& w, int p, Sink& sink, bool committed = false) const {
    Tally tally;
    const Process& process = machine_.processes[static_cast<std::size_t>(p)];
    const auto location = static_cast<std::size_t>(w[process.location_slot]);
    if (committed && !is_committed(w, p)) return tally;
    const std::size_t mark = w.mark();
    for (const int number : machine_.leaving[static_cast<std::size_t>(p)][location]) {
      const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
      if (committed && edge.partner >= 0 && !is_committed(w, edge.partner)) continue;
      switch (run_edge(machine_, edge, w, semantics_)) {
        case Outcome::Done:
          ++tally.taken;
          sink.step(Step{StepKind::Edge, p, number});
          break;
        case Outcome::Failed:
          ++tally.taken;
          sink.failed(Step{StepKind::Edge, p, number});
          if (!machine_.error.empty()) go_to_error(w, mark, Step{StepKind::Edge, p, number}, sink);
          if (!machine_.failed.empty()) stay_failed(w, mark, Step{StepKind::Edge, p, number}, sink);
          break;
        case Outcome::Refused:
          ++tally.refused;
          sink.refused();
          break;
        case Outcome::Blocked: break;
      }
      w.rollback(mark);
    }
    return tally;
  }

  template <class Sink>
  void go_to_error(Work& w, std::size_t mark, const Step& step, Sink& sink) const {
    w.rollback(mark);
    for (std::size_t slot = 0; slot < semantics_.slots.size(); ++slot)
      w.set(static_cast<int>(slot), slot < machine_.error.size() ? machine_.error[slot] : 0);
    sink.step(step);
  }

  template <class Sink>
  void stay_failed(Work& w, std::size_t mark, const Step& step, Sink& sink) const {
    w.rollback(mark);
    const Process& process = machine_.processes[static_cast<std::size_t>(step.process)];
    w.set(process.location_slot, machine_.failed[static_cast<std::size_t>(step.process)]);
    for (int slot = process.pending_slot + 1; slot <= process.pending_slot + process.registers; ++slot) {
      const Slot& range = machine_.slots[static_cast<std::size_t>(slot)];
      w.set(slot, std::clamp(Value{0}, range.lo, range.hi));
    }
    sink.step(step);
  }

  const Machine& machine_;
  const Semantics& semantics_;
  bool reduce_;
};

}  // namespace memfence
