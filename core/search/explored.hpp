// An Exploration that is made by running a breadth-first search to its end.
//
// A search begins with all there is to know about each state: number, parent. Where memory ends, or at the number of states
// that the limits name, it begins again as a compact one.
#pragma once

#include <stdexcept>

#include "search/breadth_first.hpp"
#include "search/exploration.hpp"
#include "search/retracing.hpp"

namespace memfence {

template <MemoryModel Semantics, SearchObserver Observer>
class ExplorationOf : public Exploration {
 public:
  ExplorationOf(std::shared_ptr<const Machine> machine, Semantics semantics, bool reduce, const Observer& observer,
                const Limits& limits, int threads)
      : machine_(std::move(machine)), space_(*machine_, std::move(semantics), reduce), threads_(threads) {
    Limits first = limits;
    const bool changes = limits.compact_from > 0 && (limits.most_states == 0 || limits.most_states > limits.compact_from);
    if (changes) first.most_states = limits.compact_from;
    with_parents_ = std::make_unique<Search>(space_, observer, first, threads);
    stop = with_parents_->run();
    stats = with_parents_->stats();
    taken = with_parents_->taken();
    finding = with_parents_->finding();
    if (stop == Stop::Memory || (stop == Stop::States && changes)) begin_again(observer, limits);
  }

  // After the search: what all threads together have observed.
  Observer& observer() { return is_compact ? compact_->observer() : with_parents_->observer(); }

  Path path(Index index, const std::vector<Step>& more) const override {
    if (!is_compact) return with_parents_->path(index, more);
    std::vector<const Word*> chain;
    for (const std::vector<Word>& state : way_to(index)) chain.push_back(state.data());
    return PathFinder<Semantics>(space_).find(chain, more);
  }
  std::vector<Value> values(Index index) const override {
    return values_of(is_compact ? way_to(index).back().data() : with_parents_->states().state(index));
  }
  std::vector<std::vector<Value>> all_values() const override {
    std::vector<std::vector<Value>> all;
    for_each_state([&](const Word* state) { all.push_back(values_of(state)); });
    return all;
  }
  void for_each(const std::function<void(const Word*)>& visit) const override { for_each_state(visit); }
  const Layout& layout() const override { return space_.layout(); }

 private:
  using Search = BreadthFirst<Semantics, Observer>;
  using Compact = CompactSearch<Semantics, Observer>;
  using States = std::vector<std::vector<Word>>;

  void begin_again(const Observer& observer, const Limits& limits) {
    with_parents_.reset();
    is_compact = true;
    const double spent = stats.seconds;
    const Limits rest = limits.after(spent);
    compact_ = std::make_unique<Compact>(space_, observer, rest, threads_);
    stop = compact_->run(initial_states());
    stats = compact_->stats();
    taken = compact_->taken();
    stats.seconds += spent;
    first_of_level_ = compact_->first_of_level();
    if (!compact_->found()) return;
    finding = compact_->found()->finding;
    const Stop why = retrace(finding->parent, limits.after(stats.seconds));
    if (why == Stop::None) return;
    finding.reset();  // no limit is broken for the sake of the run
    stop = why;
  }

  States initial_states() const {
    States states;
    Work work(space_.layout().slots());
    for (std::size_t i = 0; i < machine_->initial.size(); ++i) states.push_back(space_.initial(i, work));
    return states;
  }

  const States& way_to(Index index) const {
    if (index != end_of_way_) retrace(index, Limits{});
    return way_;
  }
  // The set of states makes room for the search that finds the way.
  Stop retrace(Index index, Limits limits) const {
    limits.most_states = 0;
    compact_->forget_states();
    const auto after = std::upper_bound(first_of_level_.begin(), first_of_level_.end(), index);
    const auto depth = static_cast<std::uint64_t>(after - first_of_level_.begin()) - 1;
    Retracing<Semantics> retracing(space_, limits, threads_);
    way_ = retracing.find(initial_states(), depth, [&](std::uint64_t number, const auto&) { return number == index; });
    end_of_way_ = index;
    if (way_.empty() && retracing.stop() == Stop::None) throw std::logic_error("a state is not found again");
    return retracing.stop();
  }

  std::vector<Value> values_of(const Word* state) const {
    Work work(space_.layout().slots());
    space_.load(state, work);
    return {work.data(), work.data() + space_.layout().slots()};
  }
  template <class Visit>
  void for_each_state(Visit&& visit) const {
    if (is_compact)
      compact_->for_each_state(visit);
    else
      with_parents_->for_each_state([&](Index index) { visit(with_parents_->states().state(index)); });
  }

  std::shared_ptr<const Machine> machine_;
  Space<Semantics> space_;
  int threads_;
  std::unique_ptr<Search> with_parents_;
  std::unique_ptr<Compact> compact_;
  std::vector<std::uint64_t> first_of_level_;
  mutable States way_;
  mutable Index end_of_way_ = kNoIndex;
};

}  // namespace memfence
