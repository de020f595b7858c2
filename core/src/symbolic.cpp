#include "memfence/symbolic.hpp"

#include <queue>

#include "memfence/known_cycles.hpp"

namespace memfence {

namespace {

// Order of search. A cycle of one process is found soonest if that process runs alone, depth first; so a step of the
// process that moved last comes before everything else. Among the rest the state with the fewest stores that *must* be
// pending (the shortest words) comes first: what cycles add is optional, so these states have the large languages that
// include many others. Plain depth-first search, as in the papers, meets most control states first with a buffer full of
// mandatory rounds of some loop, and again and again with less (measured: 60 times more states on loops over three values).
//
// Every state knows the one it was reached from and the events on the way, so that the path between the two can be
// replayed. An accelerated state is reached from the state its cycle started in, not from the one that closed the cycle.
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
        steps_(m, languages_, settles_, {reduce, reduce && may_commit_late()}),
        store_(m.slots.size(), languages_),
        limits_(limits),
        watch_(limits),
        work_(steps_.width()) {}

  SymbolicOutcome run() {
    try {
      for (const auto& initial : machine_.initial) {
        SymbolicRow row = initial;
        row.resize(steps_.width(), kDrained);
        reach({std::move(row), {}, 0, false}, -1);
      }
      search();
    } catch (const AutomatonTooLarge&) {
      outcome_.stop = Stop::Memory;
    }
    report();
    return std::move(outcome_);
  }

  // The sink of SymbolicSteps.
  void step(int process, bool is_commit, const std::vector<Event>& events) {
    ++outcome_.stats.transitions;
    successors_.push_back({SymbolicRow(work_.data(), work_.data() + steps_.width()), events, process, is_commit});
  }
  void failed() {
    if (query_.stop_on_failure) found(FindingKind::Failure);
  }

 private:
  struct Reached {
    SymbolicRow row;
    std::vector<Event> events;
    int mover;
    bool by_commit;
  };
  struct State {
    Reached reached;
    int group, from, depth;
  };
  struct Waiting {
    int weight, state;
    bool operator<(const Waiting& other) const { return std::pair(other.weight, other.state) < std::pair(weight, state); }
  };

  void search() {
    while (outcome_.stop == Stop::None && !(solo_.empty() && waiting_.empty())) {
      int next;
      if (!solo_.empty()) {
        next = solo_.back();
        solo_.pop_back();
      } else {
        next = waiting_.top().state;
        waiting_.pop();
      }
      if (store_.is_live(next)) expand(next);
      const Stop why = watch_.check(outcome_.stats.states, outcome_.stats.transitions, waiting_.size(), bytes());
      if (why != Stop::None && outcome_.stop == Stop::None) outcome_.stop = why;
      if (limits_.most_states && outcome_.stats.states >= limits_.most_states) outcome_.stop = Stop::Memory;
    }
  }

  void expand(int number) {
    ++outcome_.stats.states;
    successors_.clear();
    const int mover = states_[static_cast<std::size_t>(number)].reached.mover;
    load(states_[static_cast<std::size_t>(number)].reached.row);
    steps_.expand(work_, mover, *this);
    std::vector<Reached> successors = std::move(successors_);
    for (std::size_t i = successors.size(); i > 0 && outcome_.stop == Stop::None; --i)
      reach(std::move(successors[i - 1]), number);
  }
  void load(const SymbolicRow& row) {
    std::copy(row.begin(), row.end(), work_.data());
    work_.settle();
  }

  // A new state, reached from state number `parent`: drop it if it is included in another, else accelerate and keep it.
  void reach(Reached reached, int parent) {
    const int group = store_.group_of(reached.row);
    int from = parent;
    if (store_.covers(group, reached.row)) return;
    for (int round = 0; round < kMostRounds; ++round) {
      bool changed = apply_known(reached);
      if (changed && store_.covers(group, reached.row)) return;
      changed |= detect(reached, group, from);
      if (!changed) break;
      if (store_.covers(group, reached.row)) return;
    }
    const int number = static_cast<int>(states_.size());
    store_.insert(group, reached.row, number);
    look(reached.row);
    const int depth = from < 0 ? 1 : states_[static_cast<std::size_t>(from)].depth + 1;
    outcome_.stats.depth = std::max(outcome_.stats.depth, static_cast<std::uint64_t>(depth));
    const bool goes_on = !reached.by_commit && parent >= 0 && reached.mover == states_[static_cast<std::size_t>(parent)].reached.mover;
    if (goes_on)
      solo_.push_back(number);
    else
      waiting_.push({weight_of(reached.row), number});
    events_held_ += reached.events.size();
    states_.push_back({std::move(reached), group, from, depth});
  }
  int weight_of(const SymbolicRow& row) const {
    int weight = 0;
    for (int p = 0; p < processes(); ++p) weight += languages_.shortest(language(row, p));
    return weight;
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
    if (store_.is_empty(group)) return false;
    std::vector<const Reached*> path{&reached};
    for (int at = from; at >= 0; at = states_[static_cast<std::size_t>(at)].from) {
      const State& state = states_[static_cast<std::size_t>(at)];
      if (state.group == group)
        for (int p = 0; p < processes(); ++p)
          if (accelerate(reached, from, at, p, path)) return true;
      path.push_back(&state.reached);
    }
    return false;
  }

  bool accelerate(Reached& reached, int& from, int at, int p, const std::vector<const Reached*>& path) {
    const SymbolicRow& start = states_[static_cast<std::size_t>(at)].reached.row;
    const Language before = language(start, p), after = language(reached.row, p);
    if (before == after) return false;
    bool same_base = true;
    for (int q = 0; q < processes(); ++q) {
      if (q == p || language(start, q) == language(reached.row, q)) continue;
      same_base = false;
      if (!languages_.includes(language(reached.row, q), language(start, q))) return false;
    }
    if (!may_repeat(path, p)) return false;
    Cycle cycle{p, {}, kDrained, is_local(path, p)};
    for (auto step = path.rbegin(); step != path.rend(); ++step)
      cycle.events.insert(cycle.events.end(), (*step)->events.begin(), (*step)->events.end());
    const auto growth = cycles_.grow(before, cycle.events, p);
    if (!growth || *growth == kDrained) return false;
    if (languages_.settle(languages_.concatenate(before, *growth)) != after) return false;
    cycle.growth = *growth;
    if (!same_base) return repeat_onwards(reached, std::move(cycle));
    if (repeat(reached, from, at, path, cycle)) return true;
    cycle.growth = cycles_.repeatable(cycle.growth, cycle.events, p);
    if (cycle.growth == *growth || cycle.growth == kNoWord || cycle.growth == kDrained) return false;
    return repeat(reached, from, at, path, cycle);
  }

  // Back on the same base: all that the cycle can do from its start, its start included. Where that does not include
  // what was reached, it is still enough: what was reached follows from it. It must be new then, or nothing is gained.
  bool repeat(Reached& reached, int& from, int at, const std::vector<const Reached*>& path, Cycle cycle) {
    const State& state = states_[static_cast<std::size_t>(at)];
    const int p = cycle.process;
    const int number = cycles_.add(std::move(cycle));
    SymbolicRow row = state.reached.row;
    const auto saturated = known_.saturate(row, p, language(row, p), {number});
    if (!saturated || saturated->language == language(row, p) || saturated->language == language(reached.row, p)) return false;
    language(row, p) = saturated->language;
    if (!languages_.includes(saturated->language, language(reached.row, p)) && store_.covers(state.group, row)) return false;
    known_.remember(row, number);
    if (cycles_[number].is_local) remember_rotations(path, p);
    reached.row = std::move(row);
    reached.events = {{EventKind::Saturate, p, saturated->set, 0, false}};
    from = at;
    ++outcome_.stats.accelerations;
    return true;
  }

  // A local cycle can be entered at each of its states.
  void remember_rotations(const std::vector<const Reached*>& path, int p) {
    for (std::size_t split = 1; split < path.size() && path.size() <= kLongestRotated; ++split) {
      Cycle cycle{p, {}, kDrained, true};
      const auto add = [&](std::size_t from, std::size_t to) {  // the path lists its latest step first
        for (std::size_t i = from; i > to; --i)
          cycle.events.insert(cycle.events.end(), path[i - 1]->events.begin(), path[i - 1]->events.end());
      };
      add(split, 0);
      add(path.size(), split);
      const auto growth = cycles_.grow(language(path[split]->row, p), cycle.events, p);
      if (!growth || *growth == kDrained) continue;
      cycle.growth = *growth;
      const Language repeatable = cycles_.repeatable(*growth, cycle.events, p);
      known_.remember(path[split]->row, cycles_.add(cycle));
      if (repeatable == *growth || repeatable == kNoWord || repeatable == kDrained) continue;
      cycle.growth = repeatable;
      known_.remember(path[split]->row, cycles_.add(std::move(cycle)));
    }
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

  // The papers' load equivalence, on the single word that a path without accelerations appends: cheap, and it spares most
  // automata. A load that comes before the first store to its variable must find again what the last one leaves behind.
  bool may_repeat(const std::vector<const Reached*>& path, int p) const {
    std::map<int, Value> stored, loaded;
    for (auto step = path.rbegin(); step != path.rend(); ++step)
      for (const Event& e : (*step)->events) {
        if (e.process != p) continue;
        if (e.kind == EventKind::Barrier) return false;
        if (e.kind == EventKind::Saturate || e.kind == EventKind::Commit) return true;
        if (e.kind == EventKind::Load && !stored.contains(e.what)) loaded.emplace(e.what, e.value);
        if (e.kind == EventKind::Append && e.what != kSeparator)
          stored[languages_.entry(e.what).variable] = languages_.entry(e.what).value;
      }
    return std::all_of(loaded.begin(), loaded.end(), [&](const auto& load) {
      const auto last = stored.find(load.first);
      return last == stored.end() || last->second == load.second;
    });
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

  // Whether the question is about locations and registers only.
  bool may_commit_late() const {
    if (query_.stop_on_deadlock || !query_.final_values.empty()) return false;
    if (machine_.lock_slot >= 0 || machine_.has_committed || !watched_.empty()) return false;
    for (const Edge& edge : machine_.edges)
      if (edge.partner >= 0) return false;
    if (query_.bad < 0) return true;
    const std::vector<int> read = machine_.expressions[static_cast<std::size_t>(query_.bad)].slots_read();
    return std::none_of(read.begin(), read.end(), [&](int slot) { return slot < machine_.variables; });
  }

  void found(FindingKind kind) {
    if (outcome_.stop == Stop::Found) return;
    outcome_.finding = kind;
    outcome_.stop = Stop::Found;
  }
  std::uint64_t bytes() const { return languages_.bytes() + store_.bytes() + states_.size() * (steps_.width() * sizeof(Value) + 96) + events_held_ * sizeof(Event); }
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
  static constexpr std::size_t kLongestRotated = 64;

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
  std::deque<State> states_;
  std::vector<int> solo_;  // states in which the process that moved last may move again: latest first
  std::priority_queue<Waiting> waiting_;
  std::vector<Reached> successors_;
  std::uint64_t events_held_ = 0;
  std::set<SymbolicRow> plain_;
  SymbolicOutcome outcome_;
};

}  // namespace

SymbolicOutcome explore_symbolic(const Machine& machine, StoreOrder order, bool reduce, const SafetyQuery& query,
                                 const Limits& limits) {
  return SymbolicSearch(machine, order, reduce, query, limits).run();
}

}  // namespace memfence
