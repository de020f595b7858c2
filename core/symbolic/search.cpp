#include "symbolic/search.hpp"

#include <algorithm>
#include <map>
#include <queue>

#include "symbolic/acceleration.hpp"

namespace memfence {

namespace {

// Order of search. A cycle of one process is found soonest if that process runs alone, depth first; so a step of the
// process that moved last comes before everything else. Among the rest the state with the fewest stores that *must* be
// pending (the shortest words) comes first: what cycles add is optional, so these states have the large languages that
// include many others. Plain depth-first search, as in the papers, meets most control states first with a buffer full of
// mandatory rounds of some loop, and again and again with less (measured: 60 times more states on loops over three values).
//
// A state that is included in a later one before its turn comes is not expanded at all.
class SymbolicSearch {
 public:
  SymbolicSearch(const Machine& m, StoreOrder order, bool reduce, const SafetyQuery& query, const Limits& limits)
      : machine_(m),
        query_(query),
        watched_(pending_slots_read()),
        settles_(m.lock_slot < 0 && watched_.empty()),
        keeps_plain_(!reduce),
        languages_(order, settles_),
        steps_(m, languages_, settles_, {reduce, reduce && may_commit_late()}),
        states_(m.slots.size(), steps_.width(), languages_),
        acceleration_(m, languages_, steps_, states_),
        watch_(limits),
        work_(steps_.width()) {}

  SymbolicOutcome run(bool keeps_rows) {
    try {
      for (const auto& initial : machine_.initial) {
        Reached reached{initial, {}, 0, false};
        reached.row.resize(steps_.width(), kDrained);
        reach(reached, -1);
      }
      search();
    } catch (const AutomatonTooLarge&) {
      outcome_.stop = Stop::Memory;
    }
    report();
    if (keeps_rows) hand_over();
    return std::move(outcome_);
  }

  // The sink of SymbolicSteps.
  void step(int process, bool is_commit, const std::vector<Event>& events) {
    ++outcome_.stats.transitions;
    if (used_ == successors_.size()) successors_.emplace_back();
    Reached& next = successors_[used_++];
    next.row.assign(work_.data(), work_.data() + steps_.width());
    next.events.assign(events.begin(), events.end());
    next.mover = process;
    next.by_commit = is_commit;
  }
  void failed() {
    if (query_.stop_on_failure) found(FindingKind::Failure);
  }

 private:
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
      if (states_.is_live(next)) expand(next);
      if (outcome_.stop == Stop::None)
        outcome_.stop = watch_.check(outcome_.stats.states, outcome_.stats.transitions, waiting_.size(), bytes());
      if (outcome_.stop == Stop::None) outcome_.stop = watch_.check_states(outcome_.stats.states);
    }
  }

  void expand(int number) {
    ++outcome_.stats.states;
    used_ = 0;
    load(states_.row(number));
    steps_.expand(work_, states_.mover(number), *this);
    for (std::size_t i = used_; i > 0 && outcome_.stop == Stop::None; --i) reach(successors_[i - 1], number);
  }
  void load(const Value* row) {
    std::copy(row, row + steps_.width(), work_.data());
    work_.settle();
  }

  // A new state, reached from state number `parent`: drop it if it is included in another, else accelerate and keep it.
  void reach(Reached& reached, int parent) {
    const int group = states_.group_of(reached.row.data());
    if (states_.covers(group, reached.row.data())) return;
    int from = parent;
    for (int round = 0; round < kMostRounds; ++round) {
      bool changed = acceleration_.apply_known(reached);
      if (changed && states_.covers(group, reached.row.data())) return;
      changed |= acceleration_.detect(reached, group, from);
      if (!changed) break;
      if (states_.covers(group, reached.row.data())) return;
    }
    const int number = states_.insert(group, reached.row.data(), reached.events, from, reached.mover);
    look(reached.row.data());
    outcome_.stats.depth = std::max(outcome_.stats.depth, static_cast<std::uint64_t>(states_.depth(number)));
    if (!reached.by_commit && parent >= 0 && reached.mover == states_.mover(parent))
      solo_.push_back(number);
    else
      waiting_.push({weight_of(reached.row.data()), number});
  }
  int weight_of(const Value* row) const {
    int weight = 0;
    for (int p = 0; p < processes(); ++p) weight += languages_.shortest(language(row, p));
    return weight;
  }

  Language language(const Value* row, int p) const { return static_cast<Language>(row[steps_.language_slot(p)]); }
  int processes() const { return static_cast<int>(machine_.processes.size()); }

  // What the question asks about one new state.
  void look(const Value* row) {
    load(row);
    if (query_.bad >= 0 && may_be_bad(row, 0)) return found(FindingKind::Bad);
    for (int p = 0; p < processes(); ++p)
      if (!languages_.has_drained(language(row, p))) return;
    if (keeps_plain_ && !plain_.insert(std::vector<Value>(row, row + machine_.slots.size())).second) return;
    bool halted = true;
    for (int p = 0; p < processes(); ++p)
      halted &= machine_.is_halted(p, row[machine_.processes[static_cast<std::size_t>(p)].location_slot]);
    if (halted)
      note_final();
    else if (query_.stop_on_deadlock && !steps_.has_edge_when_drained(work_))
      found(FindingKind::Deadlock);
  }
  void note_final() {
    std::vector<Value> values;
    bool failed = false;
    for (const int e : query_.final_values)
      values.push_back(nearest_value(machine_.expressions[static_cast<std::size_t>(e)].evaluate(work_.data(), failed)));
    outcome_.final_values.insert(std::move(values));
  }
  // Where the question asks whether buffers are empty, both answers may be possible.
  bool may_be_bad(const Value* row, std::size_t number) {
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
  std::uint64_t bytes() const {
    return languages_.bytes() + states_.bytes() + waiting_.size() * sizeof(Waiting) +
           plain_.size() * (machine_.slots.size() * sizeof(Value) + 80);
  }
  void report() {
    SymbolicStats& s = outcome_.stats;
    s.stored = states_.stored();
    s.automata = languages_.count();
    s.largest_automaton = static_cast<std::uint64_t>(languages_.largest());
    s.accelerations = acceleration_.count();
    s.bytes = bytes();
    s.seconds = watch_.seconds();
    states_.for_each_control([&](std::vector<Value> control) { outcome_.controls.push_back(std::move(control)); });
    outcome_.plain.assign(plain_.begin(), plain_.end());
  }

  // The states that no other one includes, with the languages that they need, numbered anew.
  void hand_over() {
    std::map<Language, Value> numbers;
    for (int state = 0; state < states_.states(); ++state) {
      if (!states_.is_live(state)) continue;
      std::vector<Value>& row = outcome_.rows.emplace_back(states_.row(state), states_.row(state) + steps_.width());
      for (int p = 0; p < processes(); ++p) {
        Value& language = row[static_cast<std::size_t>(steps_.language_slot(p))];
        const auto [place, is_new] = numbers.emplace(static_cast<Language>(language), static_cast<Value>(numbers.size()));
        if (is_new) outcome_.languages.push_back(languages_.dfa(place->first));
        language = place->second;
      }
    }
    for (Symbol symbol = 0; symbol < languages_.symbols(); ++symbol) outcome_.symbols.push_back(languages_.entry(symbol));
  }

  static constexpr int kMostRounds = 4;

  const Machine& machine_;
  const SafetyQuery& query_;
  std::vector<int> watched_;  // processes whose pending stores the question looks at
  bool settles_;
  bool keeps_plain_;  // with reductions the set would not be complete, and it is large
  Languages languages_;
  SymbolicSteps steps_;
  SymbolicStateSet states_;
  Acceleration acceleration_;
  Watch watch_;
  Work work_;
  std::vector<int> solo_;  // states in which the process that moved last may move again: latest first
  std::priority_queue<Waiting> waiting_;
  std::vector<Reached> successors_;  // the first `used_` belong to the state being expanded
  std::size_t used_ = 0;
  std::set<std::vector<Value>> plain_;
  SymbolicOutcome outcome_;
};

}  // namespace

SymbolicOutcome explore_symbolic(const Machine& machine, StoreOrder order, bool reduce, const SafetyQuery& query,
                                 const Limits& limits, bool keeps_rows) {
  return SymbolicSearch(machine, order, reduce, query, limits).run(keeps_rows);
}

}  // namespace memfence
