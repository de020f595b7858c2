// What one thread of a search does with a state: show it to the observer, and run every step that leaves it.
#pragma once

#include <cstring>
#include <optional>
#include <tuple>
#include <vector>

#include "search/observer.hpp"
#include "search/space.hpp"

namespace memfence {

// A finding, and the state that its step leaves. Which of two comes first depends on states and steps alone.
struct Found {
  Finding finding;
  std::vector<Word> state;

  bool is_after(const Finding& other, const Word* other_state) const {
    const int order = std::memcmp(other_state, state.data(), state.size() * sizeof(Word));
    return order != 0 ? order < 0 : key(other) < key(finding);
  }
  static std::tuple<bool, int, StepKind, int> key(const Finding& f) {
    return {f.has_step, f.step.process, f.step.kind, f.step.number};
  }
};

// Adds the edges that are marked in `more` to those in `taken`.
inline void add_taken(std::vector<std::uint8_t>& taken, const std::vector<std::uint8_t>& more) {
  taken.resize(more.size());
  for (std::size_t edge = 0; edge < more.size(); ++edge) taken[edge] |= more[edge];
}

inline void keep_smallest(std::optional<Found>& kept, const std::optional<Found>& other) {
  if (other && (!kept || kept->is_after(other->finding, other->state.data()))) kept = other;
}

template <MemoryModel Semantics, SearchObserver Observer>
class Expander {
 public:
  Expander(const Space<Semantics>& space, const Observer& observed)
      : observer(observed), taken(space.machine().edges.size()), space_(space), work_(space.layout().slots()) {}

  // Of the state `packed`, which is number `index` and at `depth`: calls take(work) with every successor, in canonical order.
  template <class Take>
  void expand(const Word* packed, Index index, std::uint64_t depth, const StateOrder& order, Take&& take) {
    space_.load(packed, work_);
    Sink<Take> sink{*this, packed, index, take};
    const std::uint64_t refused_before = refusals;
    observer.expand(work_, index);
    space_.expand(work_, sink);
    if (sink.emitted || refusals != refused_before) return;  // with larger buffers the run would go on
    const bool halted = space_.is_halted(work_);
    if (halted && space_.is_drained(work_))
      observer.final_state(work_, index, depth, order);
    else if (!halted && observer.stops_on_deadlock())
      note(Finding{FindingKind::Deadlock, index, false, {}}, packed);
  }

  Work& work() { return work_; }

  Observer observer;
  std::vector<std::uint8_t> taken;  // of each edge, whether some state was left by it
  std::uint64_t transitions = 0, refusals = 0, failures = 0;
  std::optional<Found> found;
  bool keeps_smallest = false;  // of several findings; else the first

 private:
  template <class Take>
  struct Sink {
    Expander& expander;
    const Word* packed;
    Index index;
    Take& take;
    bool emitted = false;

    void step(const Step& step) {
      emitted = true;
      ++expander.transitions;
      if (step.kind == StepKind::Edge) expander.taken[static_cast<std::size_t>(step.number)] = 1;
      if (expander.observer.is_bad(expander.work_)) expander.note(Finding{FindingKind::Bad, index, true, step}, packed);
      const Symmetry& symmetry = expander.space_.symmetry();
      if (!symmetry.is_trivial()) symmetry.canonicalise(expander.work_);
      take(expander.work_);
    }
    void failed(const Step& step) {
      emitted = true;
      ++expander.failures;
      if (expander.space_.machine().error.empty()) ++expander.transitions;  // else the step to the error state counts
      if (expander.observer.stops_on_failure()) expander.note(Finding{FindingKind::Failure, index, true, step}, packed);
    }
    void refused() { ++expander.refusals; }
  };

  void note(const Finding& finding, const Word* packed) {
    if (found && !(keeps_smallest && found->is_after(finding, packed))) return;
    found = Found{finding, std::vector<Word>(packed, packed + space_.words())};
  }

  const Space<Semantics>& space_;
  Work work_;
};

// Whether the observer calls the initial state in the work space bad.
template <MemoryModel Semantics, SearchObserver Observer>
bool is_bad_initially(Expander<Semantics, Observer>& expander) {
  if constexpr (requires { expander.observer.is_bad_state(expander.work()); })
    return expander.observer.is_bad_state(expander.work());
  else
    return false;
}

}  // namespace memfence
