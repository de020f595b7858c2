#include "search/state_robustness.hpp"

#include "models/semantics.hpp"
#include "search/explored.hpp"

namespace memfence {

struct ScStates::Search {
  Search(std::shared_ptr<const Machine> searched, const Limits& limits, int threads)
      : machine(std::move(searched)),
        space(*machine, Sc(*machine), false),
        explored(space, NoObserver{}, limits, threads),
        stop(explored.run()) {}

  std::shared_ptr<const Machine> machine;
  Space<Sc> space;
  BreadthFirst<Sc, NoObserver> explored;
  Stop stop;
};

ScStates::ScStates(std::shared_ptr<const Machine> machine, const Limits& limits, int threads)
    : search_(std::make_unique<Search>(std::move(machine), limits, threads)) {}

ScStates::~ScStates() = default;

Stop ScStates::stop() const { return search_->stop; }

const SearchStats& ScStates::stats() const { return search_->explored.stats(); }

bool ScStates::contains(const Value* slots, std::vector<Word>& scratch) const {
  scratch.assign(search_->space.words(), 0);
  search_->space.layout().pack(slots, scratch.data());
  const std::uint64_t hash = hash_words(scratch.data(), scratch.size());
  return search_->explored.states().find(scratch.data(), hash) != kNoIndex;
}

namespace {

// Finds a drained state that SC does not reach; among those of one level, the one with the smallest packed words.
template <MemoryModel Semantics>
class NonScObserver : public NoObserver {
 public:
  NonScObserver(const Machine& m, const Semantics& semantics, const ScStates& sc)
      : machine_(&m), semantics_(&semantics), sc_(&sc) {}

  void expand(Work& w, Index index) {
    if (non_sc_) return;
    for (int p = 0; p < static_cast<int>(machine_->processes.size()); ++p)
      if (!semantics_->drained(w, p)) return;
    if (!sc_->contains(w.data(), scratch_)) non_sc_ = index;
  }
  bool has_finding() const { return non_sc_.has_value(); }
  void merge(NonScObserver& other, const StateOrder& states) {
    if (other.non_sc_ && (!non_sc_ || states.is_less(*other.non_sc_, *non_sc_))) non_sc_ = other.non_sc_;
  }
  const std::optional<Index>& non_sc() const { return non_sc_; }

 private:
  const Machine* machine_;
  const Semantics* semantics_;
  const ScStates* sc_;
  std::vector<Word> scratch_;
  std::optional<Index> non_sc_;
};

}  // namespace

NonScResult explore_non_sc_states(std::shared_ptr<const Machine> machine, const Model& model, const ScStates& sc,
                                  const Limits& limits, int threads) {
  const Machine& m = *machine;
  return with_semantics(m, model, [&](auto semantics) {
    using Semantics = decltype(semantics);
    using Observer = NonScObserver<Semantics>;
    const Semantics outlives = semantics;  // the observer looks at it while the search runs
    auto exploration = std::make_unique<ExplorationOf<Semantics, Observer>>(machine, std::move(semantics), false,
                                                                            Observer(m, outlives, sc), limits, threads);
    NonScResult result;
    result.non_sc = exploration->observer().non_sc();
    result.exploration = std::move(exploration);
    return result;
  });
}

}  // namespace memfence
