#include "search/state_robustness.hpp"

namespace memfence {

ScStates::ScStates(std::shared_ptr<const Machine> machine, const Limits& limits, int threads)
    : layout_(Sc(*machine).slots),
      search_(std::make_unique<ExplorationOf<Sc, NoObserver>>(machine, Sc(*machine), false, NoObserver{}, limits, threads)) {}

bool ScStates::contains(const Value* slots, std::vector<Word>& scratch) const {
  scratch.assign(layout_.words(), 0);
  layout_.pack(slots, scratch.data());
  return search_->search.states().find(scratch.data(), hash_words(scratch.data(), scratch.size())) != kNoIndex;
}

StrayResult explore_stray_states(std::shared_ptr<const Machine> machine, const Model& model, const ScStates& sc,
                                 const Limits& limits, int threads) {
  const Machine& m = *machine;
  return with_semantics(m, model, [&](auto semantics) {
    using Semantics = decltype(semantics);
    using Observer = StrayObserver<Semantics>;
    const Semantics outlives = semantics;  // the observer looks at it while the search runs
    auto exploration = std::make_unique<ExplorationOf<Semantics, Observer>>(machine, std::move(semantics), false,
                                                                            Observer(m, outlives, sc), limits, threads);
    StrayResult result;
    result.stray = exploration->search.observer().stray();
    result.exploration = std::move(exploration);
    return result;
  });
}

}  // namespace memfence
