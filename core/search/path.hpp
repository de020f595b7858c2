// From a chain of states to a run: which steps lead along states that a search has kept, from an initial one on.
//
// A search keeps parents, not steps: each step is found again by expanding the parent. Where identical processes changed
// places (symmetry), the steps name the real ones.
#pragma once

#include <numeric>
#include <optional>

#include "search/space.hpp"

namespace memfence {

template <MemoryModel Semantics>
class PathFinder {
 public:
  // Packed states, each a successor of the one before it.
  using Chain = std::vector<const Word*>;

  explicit PathFinder(const Space<Semantics>& space) : space_(space) {}

  // The steps along `chain`, whose first state is an initial one, then `more` (in terms of its last state).
  Path find(const Chain& chain, const std::vector<Step>& more) const {
    Path path;
    begin(chain.front(), path);
    for (std::size_t i = 1; i < chain.size(); ++i) {
      const std::vector<int> before = path.who;
      path.steps.push_back(real_step(step_between(chain[i - 1], chain[i], path.who), before));
    }
    for (const Step& step : more) path.steps.push_back(real_step(step, path.who));
    return path;
  }

 private:
  void begin(const Word* first, Path& path) const {
    Work work(space_.layout().slots());
    for (path.start = 0; path.start < space_.machine().initial.size(); ++path.start) {
      path.who.resize(space_.machine().processes.size());
      std::iota(path.who.begin(), path.who.end(), 0);
      if (are_equal_words(first, space_.initial(path.start, work, &path.who).data(), space_.words())) return;
    }
  }

  // The same step for the process that stands at this place: identical processes have matching edges.
  Step real_step(Step step, const std::vector<int>& who) const {
    const int real = who[static_cast<std::size_t>(step.process)];
    if (step.kind == StepKind::Edge && real != step.process) step.number = space_.machine().matching_edge(step.number, real);
    step.process = real;
    return step;
  }

  // Looks, among the successors of a state, for the first that is the child.
  struct Match {
    const Space<Semantics>& space;
    const Word *parent, *child;
    std::vector<int>& who;
    Work work;
    std::vector<Word> packed;
    std::optional<Step> found = std::nullopt;

    void step(const Step& step) {
      if (found) return;
      std::vector<int> exchanged = who;
      space.symmetry().canonicalise(work, &exchanged);
      space.pack_successor(parent, work, packed.data());
      if (!are_equal_words(child, packed.data(), space.words())) return;
      found = step;
      who = std::move(exchanged);
    }
    void failed(const Step&) {}
    void refused() {}
  };

  Step step_between(const Word* parent, const Word* child, std::vector<int>& who) const {
    Match match{space_, parent, child, who, Work(space_.layout().slots()), std::vector<Word>(space_.words())};
    space_.load(parent, match.work);
    space_.expand(match.work, match);
    return match.found.value();
  }

  const Space<Semantics>& space_;
};

}  // namespace memfence
