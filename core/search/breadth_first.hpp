// Breadth-first search with parents, level by level, on one or more threads.
//
// Threads enter successors into the one state set (crew.hpp).
//
// Same answer for any number of threads: a level is finished before a finding counts, among the findings of a level the
// one with the smallest parent (as packed words) wins, and a state with several parents keeps the first of them by their
// hashes. A search that is still small works on one thread, whose order is fixed anyway: there the first parent and the
// first finding count, and a finding ends the search at once. The change to the other rules happens at a level that the
// number of states alone decides, whether there is a second thread or not.
#pragma once

#include <optional>

#include "search/batch.hpp"
#include "search/crew.hpp"
#include "search/expander.hpp"
#include "search/path.hpp"

namespace memfence {

template <MemoryModel Semantics, SearchObserver Observer>
class BreadthFirst {
 public:
  BreadthFirst(const Space<Semantics>& space, Observer observer, const Limits& limits, int threads)
      : space_(space),
        states_(space_.words()),
        levels_(states_),
        observer_(std::move(observer)),
        limits_(limits),
        crew_(states_, levels_, threads) {}
  BreadthFirst(const BreadthFirst&) = delete;

  Stop run() {
    Watch watch(limits_);
    crew_.add(make_worker());
    insert_initial();
    while (stop_ == Stop::None && !levels_.is_empty()) {
      ++stats_.depth;
      stats_.widest = std::max(stats_.widest, levels_.size());
      run_level(watch);
      if (stop_ == Stop::None && limits_.most_states && levels_.states() >= limits_.most_states) stop_ = Stop::States;
    }
    stats_.seconds = watch.seconds();
    stats_.bytes = states_.bytes();
    stats_.state_bits = space_.layout().bits();
    for (const auto& worker : crew_.workers()) {
      stats_.states += worker->states;
      stats_.transitions += worker->expander.transitions;
      stats_.refused += worker->expander.refusals;
      stats_.failures += worker->expander.failures;
      add_taken(taken_, worker->expander.taken);
      if (worker.get() != &crew_.first()) observer().merge(worker->expander.observer, states_);
    }
    return stop_;
  }

  const SearchStats& stats() const { return stats_; }
  const std::vector<std::uint8_t>& taken() const { return taken_; }
  // After run(): what all threads together have observed.
  Observer& observer() { return crew_.first().expander.observer; }
  std::optional<Finding> finding() const { return found_ ? std::optional(found_->finding) : std::nullopt; }
  const StateSet& states() const { return states_; }

  // See PathFinder.
  Path path(Index index, const std::vector<Step>& more) const {
    std::vector<const Word*> chain;
    for (; index != kNoIndex; index = states_.parent(index)) chain.push_back(states_.state(index));
    std::reverse(chain.begin(), chain.end());
    return PathFinder<Semantics>(space_).find(chain, more);
  }

  template <class Visit>
  void for_each_state(Visit&& visit) const {
    for (std::uint64_t index = 0; index < levels_.allocated(); ++index)
      if (levels_.is_used(static_cast<Index>(index))) visit(static_cast<Index>(index));
  }

 private:
  // One thread's part of the search.
  struct Worker {
    Worker(BreadthFirst& s, const Observer& o) : search(s), expander(s.space_, o), batch(s.space_.words()) {}

    void expand(Index index) {
      const Word* const parent = search.states_.state(index);
      const Link link(index, hash_words(parent, search.space_.words()));
      expander.expand(parent, index, search.stats_.depth, search.states_, [&](const Work& work) {
        search.space_.pack_successor(parent, work, batch.room());
        batch.add(link, search.states_);
      });
    }
    // False: the table must grow first.
    bool flush() {
      states += batch.enter(search.states_, search.levels_, share, search.crew_.is_large());
      return batch.is_empty();
    }
    bool is_empty() const { return batch.is_empty(); }
    bool ends_here() const { return expander.found.has_value(); }
    bool ends_soon() const { return expander.observer.has_finding(); }
    std::uint64_t transitions() const { return expander.transitions; }

    BreadthFirst& search;
    Expander<Semantics, Observer> expander;
    Levels::Share share;
    Levels::Range piece;
    Batch batch;
    std::uint64_t states = 0;
  };

  std::unique_ptr<Worker> make_worker() { return std::make_unique<Worker>(*this, observer_); }

  void insert_initial() {
    Worker& worker = crew_.first();
    levels_.begin();
    for (std::size_t i = 0; i < space_.machine().initial.size(); ++i) {
      const std::vector<Word> state = space_.initial(i, worker.expander.work());
      levels_.reserve(worker.share);
      const std::uint64_t hash = hash_words(state.data(), state.size());
      const auto inserted = states_.insert(state.data(), hash, Link::none(), worker.share.next);
      if (inserted.is_new) {
        ++worker.share.next;
        ++worker.states;
        if (!found_ && is_bad_initially(worker.expander)) found_ = Found{{FindingKind::Bad, inserted.index, false, {}}, state};
      }
      if (levels_.wants_to_grow()) crew_.grow_table();
    }
    if (found_) stop_ = Stop::Found;
    levels_.end();
  }

  void run_level(Watch& watch) {
    if (!crew_.is_large() && levels_.states() >= kLargeSearch) {
      crew_.become_large([&] { return make_worker(); });
      for (const auto& worker : crew_.workers()) worker->expander.keeps_smallest = true;
    }
    stop_ = crew_.run_level(watch);
    for (const auto& worker : crew_.workers()) {
      keep_smallest(found_, worker->expander.found);
      if (worker->expander.observer.has_finding() && stop_ == Stop::None) stop_ = Stop::Found;
    }
    if (found_) stop_ = Stop::Found;
    levels_.end();
  }

  const Space<Semantics>& space_;
  StateSet states_;
  Levels levels_;
  const Observer observer_;  // as each thread starts with it
  const Limits& limits_;

  Crew<Worker> crew_;
  Stop stop_ = Stop::None;
  std::optional<Found> found_;
  SearchStats stats_;
  std::vector<std::uint8_t> taken_;
};

}  // namespace memfence
