// Every step from one symbolic state: the machine's edges run on sets of buffer contents.
//
// A symbolic state is the machine's slots followed by one slot per process: the number of its buffer language. It stands
// for all choices of one word from each language. A load restricts the language to the words on which it finds one value,
// and so forks where several values are possible (2010 paper, section 3, corrected: docs/theory/errata.md); a step that
// needs an empty buffer restricts it to the empty word; a commit takes a store out of the words that allow it.
//
// Steps are reported together with the events that cycle detection needs (symbolic/cycles.hpp).
//
// Partial order reduction. A process at a private location moves alone, as in search/successors.hpp. And commits wait
// until they matter ("late commits"; the papers use sleep sets to the same end, which save transitions but no states). A
// commit of x by p can be exchanged with the step after it unless that step reads or writes x in memory for another
// process, needs p's buffer empty, or is p's own next commit. Pushing every commit to the right, a run with the same
// locations and registers is left in which commits come in rows, each of them needed by a later one of its row or by the
// step that ends the row; commits that nothing needs are dropped at the end. Of the orders that only exchange commits,
// the one with ascending processes is enough. Only such rows are taken, together with the step that needs them, and
// states inside a row are not states of the search. Only for questions that neither memory nor buffers can answer.
#pragma once

#include <set>

#include "machine/execute.hpp"
#include "symbolic/cycles.hpp"

namespace memfence {

class SymbolicSteps {
 public:
  struct Reductions {
    bool private_first, late_commits;
  };
  SymbolicSteps(const Machine& m, Languages& languages, bool settles, Reductions reductions);

  std::size_t width() const { return machine_.slots.size() + machine_.processes.size(); }
  int language_slot(int process) const { return static_cast<int>(machine_.slots.size()) + process; }
  Language language(const Work& w, int process) const { return static_cast<Language>(w[language_slot(process)]); }

  // Sink: `void step(int process, bool is_commit, const std::vector<Event>&)` sees the successor in the work state, `void
  // failed()` a failure. The edges of process `first` come first, commits last: cycles of one process then close soonest.
  template <class Sink>
  void expand(Work& w, int first, Sink& sink);

  // Whether any edge can be taken from the state with all buffers empty.
  bool has_edge_when_drained(Work& w);

  // Whether the edges that leave this location look at nothing but their process and memory.
  bool is_self_contained(int process) const { return self_contained_[static_cast<std::size_t>(process)] != 0; }

 private:
  // For each process, what the row of commits owes: the variable of its last commit if nothing in the row needs that yet.
  using Owed = std::vector<int>;
  static constexpr std::size_t kLongestRows = 64;  // states in the rows that one state begins
  static constexpr int kAbsent = -2, kPaid = -1;  // it has no commit in the row; something needs its last one

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
  template <class Sink>
  void commit_rows(Work& w, const Owed& owed, int last, int variable, Sink& sink);
  template <class Sink>
  void steps_that_need(Work& w, const Owed& owed, Sink& sink);
  void note_direct_access(const Work& w, const Op& op);
  bool needs(int mover, const std::vector<Event>& events, const Owed& owed) const;
  bool may_join(const Work& w, const Owed& owed, int p) const;
  bool share_variable(const Work& w, const Owed& owed, int p, int q) const;
  bool start_locked(Work& w, int process);
  void move(Work& w, int process, int target);

  const Machine& machine_;
  Languages& languages_;
  Memory memory_;
  bool settles_;
  Reductions reductions_;
  std::vector<std::uint8_t> self_contained_;
  // What an edge can need: commits of these variables by others, and all commits of its own process.
  struct Needs {
    std::vector<std::uint8_t> reads;  // per variable
    int count;  // of loads and direct accesses
    bool drains;
  };
  std::vector<Needs> needs_;  // per edge
  std::vector<Event> events_;
  std::vector<int> touched_;  // variables that the edge being run accesses in memory
  std::vector<Event> row_;  // commits before the edge being run
  std::set<std::vector<Value>> seen_;  // states within rows of commits, since the last expansion
};

template <class Sink>
void SymbolicSteps::expand(Work& w, int first, Sink& sink) {
  const int processes = static_cast<int>(machine_.processes.size());
  if (reductions_.private_first)
    for (int p = 0; p < processes; ++p)
      if (is_private(w, p) && edges(w, p, sink, false) > 0) return;  // without an edge it hangs for good: go on
  bool committed = false;
  for (int p = 0; machine_.has_committed && p < processes; ++p) committed |= is_committed(w, p);
  for (int i = 0; i < processes; ++i) edges(w, (first + i) % processes, sink, committed);
  if (reductions_.late_commits) {
    seen_.clear();
    commit_rows(w, Owed(machine_.processes.size(), kAbsent), -1, -1, sink);
    if (seen_.size() < kLongestRows) return;  // else the rows are not worth it: commit one by one from here
  }
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
    touched_.clear();
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
    note_direct_access(w, next);
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
  const std::size_t touched = touched_.size();
  if (parts.none != kNoWord) touched_.push_back(variable);
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
  touched_.resize(touched);
  return ways;
}

template <class Sink>
int SymbolicSteps::load_value(Work& w, const Edge& edge, std::size_t number, Sink& sink, Language part, const Event& event) {
  const Op& op = edge.ops[number];
  const std::size_t mark = w.mark(), events = events_.size();
  const std::size_t touched = touched_.size();
  w.set(language_slot(op.process), part);
  events_.push_back(event);
  const int ways = assign(machine_, w, op.slot, event.value) ? run(w, edge, number + 1, sink) : fail(w, edge, sink);
  w.rollback(mark);
  events_.resize(events);
  touched_.resize(touched);
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

// Append one more commit to the row, in every way, and whatever ends the row then. `last` and `variable`: the last commit.
template <class Sink>
void SymbolicSteps::commit_rows(Work& w, const Owed& owed, int last, int variable, Sink& sink) {
  const std::size_t mark = w.mark();
  for (int p = 0; p < static_cast<int>(machine_.processes.size()); ++p) {
    if (!may_join(w, owed, p)) continue;
    const std::vector<Languages::Commit> all = languages_.commits(language(w, p));
    for (const Languages::Commit& c : all) {
      const Languages::Entry entry = languages_.entry(c.symbol);
      if (p < last && entry.variable != variable) continue;  // the other order of these two was or will be taken
      Owed more = owed;
      for (int& other : more)
        if (other == entry.variable) other = kPaid;
      more[static_cast<std::size_t>(p)] = entry.variable;
      w.set(entry.variable, entry.value);
      w.set(language_slot(p), c.rest);
      row_.push_back({EventKind::Commit, p, c.symbol, 0, false});
      std::vector<Value> place(w.data(), w.data() + width());
      place.insert(place.end(), more.begin(), more.end());
      place.push_back(p);
      place.push_back(entry.variable);
      if (seen_.size() < kLongestRows && seen_.insert(std::move(place)).second) {
        steps_that_need(w, more, sink);
        commit_rows(w, more, p, entry.variable, sink);
      }
      row_.pop_back();
      w.rollback(mark);
    }
  }
}

template <class Sink>
void SymbolicSteps::steps_that_need(Work& w, const Owed& owed, Sink& sink) {
  struct Filter {
    SymbolicSteps& steps;
    Sink& sink;
    const Owed& owed;
    void step(int mover, bool, const std::vector<Event>& events) {
      if (!steps.needs(mover, events, owed)) return;
      std::vector<Event> whole = steps.row_;
      whole.insert(whole.end(), events.begin(), events.end());
      sink.step(mover, true, whole);
    }
    void failed() { sink.failed(); }
  } filter{*this, sink, owed};
  for (int p = 0; p < static_cast<int>(machine_.processes.size()); ++p) edges(w, p, filter, false);
}

}  // namespace memfence
