#include "memfence/symbolic.hpp"

#include "memfence/known_cycles.hpp"

namespace memfence {

namespace {

// Every stack entry knows the entry it was reached from and the events on the way, so that the path between any two of
// them can be replayed. An accelerated state is reached from the state its cycle started in, not from its parent.
class SymbolicSearch {
 public:
  SymbolicSearch(const Machine& m, StoreOrder order, bool reduce, const SafetyQuery& query, const Limits& limits)
      : machine_(m),
        query_(query),
        watched_(pending_slots_read()),
        settles_(m.lock_slot < 0 && watched_.empty()),
        languages_(order, settles_),
        cycles_(languages_),
        known_(m, cycles_),
        steps_(m, languages_, settles_, reduce),
        store_(m.slots.size(), languages_),
        limits_(limits),
        watch_(limits),
        work_(steps_.width()) {}

  SymbolicOutcome run() {
    try {
      for (const auto& initial : machine_.initial) {
        SymbolicRow row = initial;
        row.resize(steps_.width(), kDrained);
        push({std::move(row), {}, 0}, -1);
        search();
      }
    } catch (const AutomatonTooLarge&) {
      outcome_.stop = Stop::Memory;
    }
    report();
    return std::move(outcome_);
  }

  // The sink of SymbolicSteps.
  void step(int process, const std::vector<Event>& events) {
    ++outcome_.stats.transitions;
    successors_->push_back({SymbolicRow(work_.data(), work_.data() + steps_.width()), events, process});
  }
  void failed() {
    if (query_.stop_on_failure) found(FindingKind::Failure);
  }

 private:
  struct Reached {
    SymbolicRow row;
    std::vector<Event> events;
    int mover;
  };
  struct Frame {
    Reached reached;
    int group, from;
    std::vector<Reached> successors;
    std::size_t next = 0;
  };

  void search() {
    unsigned since_check = 0;
    while (outcome_.stop == Stop::None && !stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next == top.successors.size()) {
        on_stack_[static_cast<std::size_t>(top.group)].pop_back();
        stack_.pop_back();
        continue;
      }
      push(std::move(top.successors[top.next++]), static_cast<int>(stack_.size()) - 1);
      if (++since_check % 16 == 0) {
        const Stop why = watch_.check(outcome_.stats.states, outcome_.stats.transitions, stack_.size(), bytes());
        if (why != Stop::None) outcome_.stop = why;
        if (limits_.most_states && outcome_.stats.states >= limits_.most_states) outcome_.stop = Stop::Memory;
      }
    }
  }

  void push(Reached reached, int parent) {
    const int group = store_.group_of(reached.row);
    if (static_cast<std::size_t>(group) >= on_stack_.size()) on_stack_.resize(static_cast<std::size_t>(group) + 1);
    int from = parent;
    if (store_.covers(group, reached.row)) return;
    for (int round = 0; round < kMostRounds; ++round) {
      bool changed = apply_known(reached);
      if (changed && store_.covers(group, reached.row)) return;
      changed |= detect(reached, group, from);
      if (!changed) break;
      if (store_.covers(group, reached.row)) return;
    }
    store_.insert(group, reached.row);
    ++outcome_.stats.states;
    look(reached.row);
    if (outcome_.stop != Stop::None) return;
    on_stack_[static_cast<std::size_t>(group)].push_back(static_cast<int>(stack_.size()));
    stack_.push_back({std::move(reached), group, from, {}, 0});
    outcome_.stats.depth = std::max<std::uint64_t>(outcome_.stats.depth, stack_.size());
    expand(stack_.back());
  }

  void load(const SymbolicRow& row) {
    std::copy(row.begin(), row.end(), work_.data());
    work_.settle();
  }
  void expand(Frame& frame) {
    successors_ = &frame.successors;
    load(frame.reached.row);
    steps_.expand(work_, frame.reached.mover, *this);
  }

  Language& language(SymbolicRow& row, int p) { return row[machine_.slots.size() + static_cast<std::size_t>(p)]; }
  Language language(const SymbolicRow& row, int p) const { return row[machine_.slots.size() + static_cast<std::size_t>(p)]; }
  int processes() const { return static_cast<int>(machine_.processes.size()); }

  // Cycles that were found elsewhere and work here are repeated at once, without going round them again.
  bool apply_known(Reached& reached) {
    bool changed = false;
    for (int p = 0; p < processes(); ++p) {
      const auto saturated = known_.saturate(reached.row, p, language(reached.row, p), {});
      if (!saturated || saturated->language == language(reached.row, p)) continue;
      language(reached.row, p) = saturated->language;
      reached.events.push_back({EventKind::Saturate, p, saturated->set, 0, false});
      ++outcome_.stats.accelerations;
      changed = true;
    }
    return changed;
  }

  // Look along the path to `reached` for a state that differs in one buffer only.
  bool detect(Reached& reached, int group, int& from) {
    const auto& places = on_stack_[static_cast<std::size_t>(group)];
    if (places.empty()) return false;
    std::vector<const Reached*> path{&reached};
    for (int at = from; at >= places.front(); at = stack_[static_cast<std::size_t>(at)].from) {
      const Frame& frame = stack_[static_cast<std::size_t>(at)];
      if (frame.group == group)
        for (int p = 0; p < processes(); ++p)
          if (accelerate(reached, from, at, p, path)) return true;
      path.push_back(&frame.reached);
    }
    return false;
  }

  bool accelerate(Reached& reached, int& from, int at, int p, const std::vector<const Reached*>& path) {
    const SymbolicRow& start = stack_[static_cast<std::size_t>(at)].reached.row;
    const Language before = language(start, p), after = language(reached.row, p);
    if (before == after) return false;
    bool same_base = true;
    for (int q = 0; q < processes(); ++q) {
      if (q == p || language(start, q) == language(reached.row, q)) continue;
      same_base = false;
      if (!languages_.includes(language(reached.row, q), language(start, q))) return false;
    }
    Cycle cycle{p, {}, kDrained, is_local(path, p)};
    for (auto step = path.rbegin(); step != path.rend(); ++step)
      cycle.events.insert(cycle.events.end(), (*step)->events.begin(), (*step)->events.end());
    const auto growth = cycles_.grow(before, cycle.events, p);
    if (!growth || *growth == kDrained) return false;
    if (languages_.settle(languages_.concatenate(before, *growth)) != after) return false;
    cycle.growth = *growth;
    return same_base ? repeat(reached, from, at, std::move(cycle)) : repeat_onwards(reached, std::move(cycle));
  }

  // Back on the same base: all that the cycle can do from its start, its start included.
  bool repeat(Reached& reached, int& from, int at, Cycle cycle) {
    const SymbolicRow& start = stack_[static_cast<std::size_t>(at)].reached.row;
    const int p = cycle.process;
    const int number = cycles_.add(std::move(cycle));
    const auto saturated = known_.saturate(start, p, language(start, p), {number});
    if (!saturated || saturated->language == language(reached.row, p)) return false;
    if (!languages_.includes(saturated->language, language(reached.row, p))) return false;
    known_.remember(start, number);
    reached.row = start;
    language(reached.row, p) = saturated->language;
    reached.events = {{EventKind::Saturate, p, saturated->set, 0, false}};
    from = at;
    ++outcome_.stats.accelerations;
    return true;
  }

  // Other buffers can hold more now than where the cycle started: it can be repeated, but only from here on.
  bool repeat_onwards(Reached& reached, Cycle cycle) {
    const int p = cycle.process;
    const int number = cycles_.add(std::move(cycle));
    const auto language_after = cycles_.saturate(language(reached.row, p), {number}, reached.row.data());
    if (!language_after || *language_after == language(reached.row, p)) return false;
    language(reached.row, p) = *language_after;
    const std::vector<Value> memory(reached.row.begin(), reached.row.begin() + machine_.variables);
    reached.events.push_back({EventKind::Saturate, p, cycles_.set_of({{number}, memory}), 0, false});
    ++outcome_.stats.accelerations;
    return true;
  }

  bool is_local(const std::vector<const Reached*>& path, int p) const {
    if (!steps_.is_self_contained(p)) return false;
    if (machine_.lock_slot >= 0 && path[0]->row[static_cast<std::size_t>(machine_.lock_slot)] != 0) return false;
    for (const Reached* step : path) {
      if (step->mover != p) return false;
      for (const Event& e : step->events) {
        if (e.process != p || e.kind == EventKind::Commit) return false;
        if (e.kind == EventKind::Saturate)
          for (const int c : cycles_.set(e.what).cycles)
            if (!cycles_[c].is_local) return false;
      }
    }
    return true;
  }

  // What the question asks about one new state.
  void look(const SymbolicRow& row) {
    load(row);
    if (query_.bad >= 0 && may_be_bad(row, 0)) return found(FindingKind::Bad);
    for (int p = 0; p < processes(); ++p)
      if (!languages_.has_drained(language(row, p))) return;
    if (plain_.insert(SymbolicRow(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(machine_.slots.size()))).second == false)
      return;
    bool halted = true;
    for (int p = 0; p < processes(); ++p)
      halted &= machine_.is_halted(p, row[static_cast<std::size_t>(machine_.processes[static_cast<std::size_t>(p)].location_slot)]);
    if (halted)
      note_final();
    else if (query_.stop_on_deadlock && !steps_.has_edge_when_drained(work_))
      found(FindingKind::Deadlock);
  }
  void note_final() {
    std::vector<Value> values;
    bool failed = false;
    for (const int e : query_.final_values)
      values.push_back(static_cast<Value>(machine_.expressions[static_cast<std::size_t>(e)].evaluate(work_.data(), failed)));
    outcome_.final_values.insert(std::move(values));
  }
  // Where the question asks whether buffers are empty, both answers may be possible.
  bool may_be_bad(const SymbolicRow& row, std::size_t number) {
    if (number == watched_.size()) {
      bool failed = false;
      return machine_.expressions[static_cast<std::size_t>(query_.bad)].evaluate(work_.data(), failed) != 0;
    }
    const int p = watched_[number];
    const int slot = machine_.processes[static_cast<std::size_t>(p)].pending_slot;
    const bool may_be_empty = languages_.has_drained(language(row, p)), may_be_full = language(row, p) != kDrained;
    for (const Value pending : {0, 1}) {
      if (!(pending ? may_be_full : may_be_empty)) continue;
      work_.data()[slot] = pending;
      const bool bad = may_be_bad(row, number + 1);
      work_.data()[slot] = 0;
      if (bad) return true;
    }
    return false;
  }
  std::vector<int> pending_slots_read() const {
    std::vector<int> watched;
    if (query_.bad < 0) return watched;
    const std::vector<int> read = machine_.expressions[static_cast<std::size_t>(query_.bad)].slots_read();
    for (int p = 0; p < processes(); ++p)
      if (std::find(read.begin(), read.end(), machine_.processes[static_cast<std::size_t>(p)].pending_slot) != read.end())
        watched.push_back(p);
    return watched;
  }

  void found(FindingKind kind) {
    if (outcome_.stop == Stop::Found) return;
    outcome_.finding = kind;
    outcome_.stop = Stop::Found;
  }
  std::uint64_t bytes() const { return languages_.bytes() + store_.bytes() + stack_.size() * 1024; }
  void report() {
    SymbolicStats& s = outcome_.stats;
    s.stored = store_.stored();
    s.automata = languages_.count();
    s.largest_automaton = static_cast<std::uint64_t>(languages_.largest());
    s.bytes = bytes();
    s.seconds = watch_.seconds();
    store_.for_each_control([&](const SymbolicRow& control) { outcome_.controls.push_back(control); });
    outcome_.plain.assign(plain_.begin(), plain_.end());
  }

  static constexpr int kMostRounds = 4;

  const Machine& machine_;
  const SafetyQuery& query_;
  std::vector<int> watched_;  // processes whose pending stores the question looks at
  bool settles_;
  Languages languages_;
  Cycles cycles_;
  KnownCycles known_;
  SymbolicSteps steps_;
  SymbolicStore store_;
  const Limits& limits_;
  Watch watch_;
  Work work_;
  std::vector<Frame> stack_;
  std::vector<std::vector<int>> on_stack_;  // per group: places on the stack
  std::vector<Reached>* successors_ = nullptr;
  std::set<SymbolicRow> plain_;
  SymbolicOutcome outcome_;
};

}  // namespace

SymbolicOutcome explore_symbolic(const Machine& machine, StoreOrder order, bool reduce, const SafetyQuery& query,
                                 const Limits& limits) {
  return SymbolicSearch(machine, order, reduce, query, limits).run();
}

}  // namespace memfence
