// Every step from one symbolic state: the machine's edges run on sets of buffer contents.
//
// A symbolic state is the machine's slots followed by one slot a process: the number of its buffer language. It stands for
// all choices of one word from each language. A load restricts the language to the words on which it finds one value, and
// so forks where several values are possible (2010 paper, section 3, with DESIGN 11, item 2); a step that needs an empty
// buffer restricts it to the empty word; a commit takes a store out of the words that allow it.
//
// Steps are reported together with the events that cycle detection needs (cycles.hpp). Partial order reduction is that of
// successors.hpp: a process at a private location moves alone.
#pragma once

#include "memfence/cycles.hpp"
#include "memfence/execute.hpp"

namespace memfence {

class SymbolicSteps {
 public:
  SymbolicSteps(const Machine& m, Languages& languages, bool settles, bool reduce);

  std::size_t width() const { return machine_.slots.size() + machine_.processes.size(); }
  int language_slot(int process) const { return static_cast<int>(machine_.slots.size()) + process; }
  Language language(const Work& w, int process) const { return w[language_slot(process)]; }

  // Sink: `void step(int process, bool is_commit, const std::vector<Event>&)` sees the successor in the work state, `void failed()` a
  // failure. The edges of process `first` come first, commits last: cycles of one process then close soonest.
  template <class Sink>
  void expand(Work& w, int first, Sink& sink);

  // Whether any edge can be taken from the state with all buffers empty.
  bool has_edge_when_drained(Work& w);

  // Whether the edges that leave this location look at nothing but their process and memory.
  bool is_self_contained(int process) const { return self_contained_[static_cast<std::size_t>(process)] != 0; }

 private:
  // The memory model of execute.hpp, on languages.
  struct Memory {
    SymbolicSteps& steps;
    bool own(const Work&, int, int, Value&) const { return false; }
    Outcome store(Work& w, int process, int variable, Value value) const;
    bool drained(Work& w, int process) const;
    Outcome separate(Work& w, int process) const;
    void passed_fence(Work&, int) const {}
  };

  bool is_private(const Work& w, int p) const;
  bool is_committed(const Work& w, int p) const;
  template <class Sink>
  int edges(Work& w, int p, Sink& sink, bool committed);
  template <class Sink>
  int run(Work& w, const Edge& edge, std::size_t op, Sink& sink);
  template <class Sink>
  int load(Work& w, const Edge& edge, std::size_t op, Sink& sink);
  template <class Sink>
  int load_value(Work& w, const Edge& edge, std::size_t op, Sink& sink, Language part, const Event& event);
  template <class Sink>
  int fail(Work& w, const Edge& edge, Sink& sink);
  template <class Sink>
  void commits(Work& w, int p, Sink& sink);
  bool start_locked(Work& w, int process);
  void move(Work& w, int process, int target);

  const Machine& machine_;
  Languages& languages_;
  Memory memory_;
  bool settles_, reduce_;
  std::vector<std::uint8_t> self_contained_;
  std::vector<Event> events_;
};

template <class Sink>
void SymbolicSteps::expand(Work& w, int first, Sink& sink) {
  const int processes = static_cast<int>(machine_.processes.size());
  if (reduce_)
    for (int p = 0; p < processes; ++p)
      if (is_private(w, p) && edges(w, p, sink, false) > 0) return;  // without an edge it hangs for good: go on
  bool committed = false;
  for (int p = 0; machine_.has_committed && p < processes; ++p) committed |= is_committed(w, p);
  for (int i = 0; i < processes; ++i) edges(w, (first + i) % processes, sink, committed);
  const Value owner = machine_.lock_slot < 0 ? 0 : w[machine_.lock_slot];
  for (int p = 0; p < processes; ++p)
    if (owner == 0 || owner == p + 1) commits(w, p, sink);
}

template <class Sink>
int SymbolicSteps::edges(Work& w, int p, Sink& sink, bool committed) {
  const auto location = static_cast<std::size_t>(w[machine_.processes[static_cast<std::size_t>(p)].location_slot]);
  if (committed && !is_committed(w, p)) return 0;
  int taken = 0;
  for (const int number : machine_.leaving[static_cast<std::size_t>(p)][location]) {
    const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
    if (committed && edge.partner >= 0 && !is_committed(w, edge.partner)) continue;
    const std::size_t mark = w.mark();
    events_.clear();
    bool possible = true;
    if (edge.partner >= 0) {
      const Process& partner = machine_.processes[static_cast<std::size_t>(edge.partner)];
      possible = w[partner.location_slot] == edge.partner_source && (!edge.partner_locked || start_locked(w, edge.partner));
    }
    if (possible && (!edge.locked || start_locked(w, edge.process))) taken += run(w, edge, 0, sink);
    w.rollback(mark);
  }
  return taken;
}

// Run the ops from number `op` on; returns how many ways of finishing the edge there are. Changes stay in the log.
template <class Sink>
int SymbolicSteps::run(Work& w, const Edge& edge, std::size_t op, Sink& sink) {
  for (; op < edge.ops.size(); ++op) {
    const Op& next = edge.ops[op];
    if (next.kind == OpKind::Load && !next.locked) return load(w, edge, op, sink);
    switch (run_op(machine_, next, w, memory_)) {
      case Outcome::Done: break;
      case Outcome::Failed: return fail(w, edge, sink);
      default: return 0;
    }
  }
  move(w, edge.process, edge.target);
  if (edge.partner >= 0) move(w, edge.partner, edge.partner_target);
  sink.step(edge.process, false, events_);
  return 1;
}

template <class Sink>
int SymbolicSteps::load(Work& w, const Edge& edge, std::size_t number, Sink& sink) {
  const Op& op = edge.ops[number];
  bool failed = false;
  if (op.when >= 0) {
    const Wide wanted = machine_.expressions[static_cast<std::size_t>(op.when)].evaluate(w.data(), failed);
    if (failed) return fail(w, edge, sink);
    if (wanted == 0) return assign(machine_, w, op.slot, 0) ? run(w, edge, number + 1, sink) : fail(w, edge, sink);
  }
  int variable;
  if (!evaluate_address(machine_, op, w, variable)) return fail(w, edge, sink);
  const Value owner = machine_.lock_slot < 0 ? 0 : w[machine_.lock_slot];
  const bool bus_free = owner == 0 || owner == op.process + 1;
  const Language before = language(w, op.process);
  const Languages::Loads parts = languages_.loads(before, variable);
  const Value in_memory = w[variable];
  int ways = 0;
  bool memory_done = !bus_free || parts.none == kNoWord;
  for (const auto& [value, own] : parts.own) {
    const bool same = bus_free && value == in_memory;
    const Language part = same ? languages_.unite(own, parts.none) : own;
    memory_done |= same;
    ways += load_value(w, edge, number, sink, part, {EventKind::Load, op.process, variable, value, same});
  }
  if (!memory_done)
    ways += load_value(w, edge, number, sink, parts.none, {EventKind::Load, op.process, variable, in_memory, true});
  return ways;
}

template <class Sink>
int SymbolicSteps::load_value(Work& w, const Edge& edge, std::size_t number, Sink& sink, Language part, const Event& event) {
  const Op& op = edge.ops[number];
  const std::size_t mark = w.mark(), events = events_.size();
  w.set(language_slot(op.process), part);
  events_.push_back(event);
  const int ways = assign(machine_, w, op.slot, event.value) ? run(w, edge, number + 1, sink) : fail(w, edge, sink);
  w.rollback(mark);
  events_.resize(events);
  return ways;
}

// A failure ends the run, except in a language with an error state.
template <class Sink>
int SymbolicSteps::fail(Work& w, const Edge& edge, Sink& sink) {
  sink.failed();
  if (machine_.error.empty()) return 1;
  const std::size_t mark = w.mark();
  for (std::size_t slot = 0; slot < machine_.error.size(); ++slot) w.set(static_cast<int>(slot), machine_.error[slot]);
  std::vector<Event> barriers;
  for (int p = 0; p < static_cast<int>(machine_.processes.size()); ++p) {
    w.set(language_slot(p), kDrained);
    barriers.push_back({EventKind::Barrier, p, 0, 0, false});
  }
  sink.step(edge.process, false, barriers);
  w.rollback(mark);
  return 1;
}

template <class Sink>
void SymbolicSteps::commits(Work& w, int p, Sink& sink) {
  const Language before = language(w, p);
  const std::vector<Languages::Commit> all = languages_.commits(before);
  const std::size_t mark = w.mark();
  for (const Languages::Commit& c : all) {
    const Languages::Entry entry = languages_.entry(c.symbol);
    w.set(entry.variable, entry.value);
    w.set(language_slot(p), c.rest);
    events_.assign(1, Event{EventKind::Commit, p, c.symbol, 0, false});
    sink.step(p, true, events_);
    w.rollback(mark);
  }
  if (settles_) return;
  const Language rest = languages_.without_separator(before);
  if (rest == kNoWord) return;
  w.set(language_slot(p), rest);
  events_.assign(1, Event{EventKind::Barrier, p, 0, 0, false});
  sink.step(p, true, events_);
  w.rollback(mark);
}

}  // namespace memfence
