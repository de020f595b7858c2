// What a search looks for on its way. A new question is a new observer; no search changes for it.
//
// An observer is copied for each thread and merged afterwards. Whatever it prefers among several findings must depend on
// states, not on the order of discovery, so that two threads give the answer of one.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "search/state_set.hpp"
#include "search/successors.hpp"

namespace memfence {

template <class Observer>
concept SearchObserver = requires(Observer& observer, const Observer& unchanged, Work& work, Index index, std::uint64_t depth,
                                  const StateOrder& states) {
  // A state is about to be expanded. `work` must be left as it was.
  observer.expand(work, index);
  // Of a successor: the log in `work` has what the step changed.
  { observer.is_bad(work) } -> std::same_as<bool>;
  // Whether a failing step, or a state without a step, ends the search.
  { unchanged.stops_on_failure() } -> std::same_as<bool>;
  { unchanged.stops_on_deadlock() } -> std::same_as<bool>;
  // Whether the observer itself has found something: then this level is the last.
  { unchanged.has_finding() } -> std::same_as<bool>;
  // Every process has halted, and nothing is pending.
  observer.final_state(work, index, depth, states);
  // Take over what another thread's observer has seen.
  observer.merge(observer, states);
};

// Which of two findings of a level counts: the one with the smaller parent, whoever found it first.
inline bool is_smaller(const Finding& a, const Finding& b, const StateSet& states) {
  if (a.parent != b.parent && !are_equal_words(states.state(a.parent), states.state(b.parent), states.words()))
    return states.is_less(a.parent, b.parent);
  const auto key = [](const Finding& f) { return std::tuple(f.has_step, f.step.process, f.step.kind, f.step.number); };
  return key(a) < key(b);
}

// Nothing is looked for: the bare exploration.
struct NoObserver {
  void expand(Work&, Index) {}
  bool is_bad(const Work&) { return false; }
  bool stops_on_failure() const { return false; }
  bool stops_on_deadlock() const { return false; }
  bool has_finding() const { return false; }
  void final_state(const Work&, Index, std::uint64_t, const StateOrder&) {}
  void merge(NoObserver&, const StateOrder&) {}
};

// Safety: bad states, failing steps, deadlocks, and the values seen in final states.
class SafetyObserver {
 public:
  SafetyObserver(const Machine& m, int bad, bool stops_on_failure, bool stops_on_deadlock, std::vector<int> final_values)
      : machine_(&m),
        bad_(bad),
        stops_on_failure_(stops_on_failure),
        stops_on_deadlock_(stops_on_deadlock),
        final_values_(std::move(final_values)),
        watched_(m.slots.size()) {
    if (bad_ < 0) return;
    for (const Expression::Trigger& t : m.expressions[static_cast<std::size_t>(bad_)].triggers()) {
      Watched& watched = watched_[static_cast<std::size_t>(t.slot)];
      watched.any |= t.any;
      watched.values.push_back(t.value);
    }
  }

  // How many final states had certain values, and the first of them: of those at the smallest depth, the smallest.
  struct Seen {
    std::uint64_t count = 0;
    std::uint64_t depth = 0;
    Index index = kNoIndex;

    void add(const Seen& other, const StateOrder& states) {
      if (count == 0 || other.depth < depth || (other.depth == depth && states.is_less(other.index, index))) {
        depth = other.depth;
        index = other.index;
      }
      count += other.count;
    }
  };

  void expand(Work&, Index) {}
  // A successor can be bad only if the step changed something in a way that can make the expression true.
  bool is_bad(const Work& w) {
    if (bad_ < 0) return false;
    for (const Work::Change& change : w.log())
      if (static_cast<std::size_t>(change.slot) < watched_.size() &&
          watched_[static_cast<std::size_t>(change.slot)].includes(w[change.slot]))
        return is_bad_state(w);
    return false;
  }
  bool is_bad_state(const Work& w) const {
    bool failed = false;
    return bad_ >= 0 && machine_->expressions[static_cast<std::size_t>(bad_)].evaluate(w.data(), failed) != 0;
  }
  bool stops_on_failure() const { return stops_on_failure_; }
  bool stops_on_deadlock() const { return stops_on_deadlock_; }
  bool has_finding() const { return false; }
  void final_state(const Work& w, Index index, std::uint64_t depth, const StateOrder& states) {
    ++finals_;
    if (final_values_.empty()) return;
    std::vector<Value> values;
    bool failed = false;
    for (const int e : final_values_)
      values.push_back(nearest_value(machine_->expressions[static_cast<std::size_t>(e)].evaluate(w.data(), failed)));
    seen_[values].add({1, depth, index}, states);
  }
  void merge(SafetyObserver& other, const StateOrder& states) {
    finals_ += other.finals_;
    for (const auto& [values, seen] : other.seen_) seen_[values].add(seen, states);
  }

  const std::map<std::vector<Value>, Seen>& seen() const { return seen_; }
  void resume(std::map<std::vector<Value>, Seen> seen) { seen_ = std::move(seen); }
  std::uint64_t finals() const { return finals_; }

 private:
  const Machine* machine_;
  int bad_;
  bool stops_on_failure_, stops_on_deadlock_;
  std::vector<int> final_values_;
  // New values of a slot that are worth a look at the bad expression.
  struct Watched {
    bool any = false;
    std::vector<Value> values;

    bool includes(Value value) const { return any || std::find(values.begin(), values.end(), value) != values.end(); }
  };
  std::vector<Watched> watched_;
  std::map<std::vector<Value>, Seen> seen_;
  std::uint64_t finals_ = 0;
};

}  // namespace memfence
