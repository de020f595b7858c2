// From parent links to a run: which steps lead from an initial state to a state that a search has kept.
//
// The set keeps parents, not steps: each step is found again by expanding the parent. Where identical processes changed
// places (symmetry), the steps name the real ones.
#pragma once

#include <numeric>
#include <optional>

#include "search/space.hpp"

namespace memfence {

template <MemoryModel Semantics>
class PathFinder {
 public:
  PathFinder(const Space<Semantics>& space, const StateSet& states) : space_(space), states_(states) {}

  // The steps from an initial state to `index`, then `more` (in terms of the stored state).
  Path find(Index index, const std::vector<Step>& more) const {
    std::vector<Index> chain{index};
    while (states_.parent(chain.back()) != kNoIndex) chain.push_back(states_.parent(chain.back()));
    Path path;
    begin(chain.back(), path);
    for (std::size_t i = chain.size() - 1; i > 0; --i) {
      const std::vector<int> before = path.who;
      path.steps.push_back(real_step(step_between(chain[i], chain[i - 1], path.who), before));
    }
    for (const Step& step : more) path.steps.push_back(real_step(step, path.who));
    return path;
  }

 private:
  void begin(Index first, Path& path) const {
    Work work(space_.layout().slots());
    for (path.start = 0; path.start < space_.machine().initial.size(); ++path.start) {
      path.who.resize(space_.machine().processes.size());
      std::iota(path.who.begin(), path.who.end(), 0);
      if (is_state(first, space_.initial(path.start, work, &path.who).data())) return;
    }
  }

  bool is_state(Index index, const Word* packed) const { return are_equal_words(states_.state(index), packed, space_.words()); }

  // The same step for the process that stands at this place: identical processes have matching edges.
  Step real_step(Step step, const std::vector<int>& who) const {
    const int real = who[static_cast<std::size_t>(step.process)];
    if (step.kind == StepKind::Edge && real != step.process) step.number = space_.machine().matching_edge(step.number, real);
    step.process = real;
    return step;
  }

  // Looks, among the successors of a state, for the first that is the child.
  struct Match {
    const PathFinder& finder;
    Index parent, child;
    std::vector<int>& who;
    Work work;
    std::vector<Word> packed;
    std::optional<Step> found = std::nullopt;

    void step(const Step& step) {
      if (found) return;
      std::vector<int> exchanged = who;
      finder.space_.symmetry().canonicalise(work, &exchanged);
      finder.space_.pack_successor(finder.states_.state(parent), work, packed.data());
      if (!finder.is_state(child, packed.data())) return;
      found = step;
      who = std::move(exchanged);
    }
    void failed(const Step&) {}
    void refused() {}
  };

  Step step_between(Index parent, Index child, std::vector<int>& who) const {
    Match match{*this, parent, child, who, Work(space_.layout().slots()), std::vector<Word>(space_.words())};
    space_.load(states_.state(parent), match.work);
    space_.expand(match.work, match);
    return match.found.value();
  }

  const Space<Semantics>& space_;
  const StateSet& states_;
};

}  // namespace memfence
