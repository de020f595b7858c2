// Breadth-first search with parents, level by level, on one or more threads.
//
// A level is a list of index ranges; threads take pieces of it and enter successors into the one state set, a batch at a
// time. Whenever the table wants to grow, all threads stand still.
//
// Same answer for any number of threads: a level is finished before a finding counts, among the findings of a level the
// one with the smallest parent (as packed words) wins, and a state with several parents keeps the first of them by their
// hashes. A search that is still small works on one thread, whose order is fixed anyway: there the first parent and the
// first finding count, and a finding ends the search at once. The change to the other rules happens at a level that the
// number of states alone decides, whether there is a second thread or not.
#pragma once

#include <atomic>
#include <optional>

#include "search/batch.hpp"
#include "search/expander.hpp"
#include "search/limits.hpp"
#include "search/path.hpp"
#include "search/team.hpp"

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
        threads_(std::max(1, threads)) {}
  BreadthFirst(const BreadthFirst&) = delete;

  Stop run() {
    Watch watch(limits_);
    add_worker();
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
    for (const auto& worker : workers_) {
      stats_.states += worker->states;
      stats_.transitions += worker->expander.transitions;
      stats_.refused += worker->expander.refusals;
      stats_.failures += worker->expander.failures;
      add_taken(taken_, worker->expander.taken);
      if (worker != workers_[0]) observer().merge(worker->expander.observer, states_);
    }
    return stop_;
  }

  const SearchStats& stats() const { return stats_; }
  const std::vector<std::uint8_t>& taken() const { return taken_; }
  // After run(): what all threads together have observed.
  Observer& observer() { return workers_[0]->expander.observer; }
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
  static constexpr std::uint64_t kParallelLevel = 2048;  // a smaller level is not worth waking a thread for
  static constexpr Index kExpanded = 32;                 // states whose successors are gathered before they are entered

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
      states += batch.enter(search.states_, search.levels_, share, search.is_large_);
      return batch.is_empty();
    }
    bool has_work() const { return !batch.is_empty() || piece.begin < piece.end; }

    BreadthFirst& search;
    Expander<Semantics, Observer> expander;
    Levels::Share share;
    Levels::Range piece;  // of the level: what is left of it
    Batch batch;
    std::uint64_t states = 0;
  };

  void add_worker() {
    workers_.push_back(std::make_unique<Worker>(*this, observer_));
    levels_.add(workers_.back()->share);
  }

  void insert_initial() {
    Worker& worker = *workers_[0];
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
      if (levels_.wants_to_grow()) levels_.grow(*team_);
    }
    if (found_) stop_ = Stop::Found;
    levels_.end();
  }

  void run_level(Watch& watch) {
    if (!is_large_ && levels_.states() >= kLargeSearch) become_large();
    levels_.begin();
    do {
      if (levels_.wants_to_grow()) {
        if (watch.would_exceed(states_.bytes(), states_.bytes_to_grow())) {
          stop_ = Stop::Memory;
          break;
        }
        levels_.grow(*team_);
      }
      if (levels_.size() >= kParallelLevel)
        team_->run(workers_.size(), [&](std::size_t member, std::size_t number) {
          run_pieces(*workers_[number], member == 0 ? &watch : nullptr);
        });
      else
        run_pieces(*workers_[0], &watch);
    } while (stop_ == Stop::None && is_level_unfinished());
    for (const auto& worker : workers_) {
      keep_smallest(found_, worker->expander.found);
      if (worker->expander.observer.has_finding() && stop_ == Stop::None) stop_ = Stop::Found;
    }
    if (found_) stop_ = Stop::Found;
    levels_.end();
  }
  void become_large() {
    is_large_ = true;
    team_ = std::make_unique<Team>(static_cast<std::size_t>(threads_));
    while (workers_.size() < team_->size()) add_worker();
    for (const auto& worker : workers_) worker->expander.keeps_smallest = true;
  }
  bool is_level_unfinished() const {
    return levels_.has_piece() ||
           std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->has_work(); });
  }

  // Expand pieces of the level until none is left, the table wants to grow, or the search is to stop.
  void run_pieces(Worker& worker, Watch* watch) {
    while (stop_ == Stop::None && worker.flush() && !levels_.wants_to_grow()) {
      if (worker.piece.begin == worker.piece.end) worker.piece = levels_.take_piece(worker.share);
      if (worker.piece.begin == worker.piece.end) return;
      for (Index left = kExpanded; left > 0 && worker.piece.begin < worker.piece.end; --left) {
        worker.expand(worker.piece.begin++);
        if (worker.expander.found && !is_large_) return finish(worker);
      }
      if (!worker.flush()) return;
      if (worker.expander.observer.has_finding() && !is_large_) return finish(worker);
      if (watch && ++pieces_ % 16 == 0) {  // over all levels: a deep search may have one piece in each
        const std::uint64_t transitions = worker.expander.transitions * workers_.size();  // about: others are busy
        const Stop why = watch->check(levels_.states_about(), transitions, levels_.size(), states_.bytes());
        if (why != Stop::None) stop_ = why;
      }
    }
  }
  void finish(Worker& worker) {
    worker.flush();
    stop_ = Stop::Found;
  }

  const Space<Semantics>& space_;
  StateSet states_;
  Levels levels_;
  const Observer observer_;  // as each thread starts with it
  const Limits& limits_;
  int threads_;

  std::unique_ptr<Team> team_ = std::make_unique<Team>(1);
  std::vector<std::unique_ptr<Worker>> workers_;
  bool is_large_ = false;
  std::atomic<Stop> stop_ = Stop::None;
  std::optional<Found> found_;
  SearchStats stats_;
  std::vector<std::uint8_t> taken_;
  alignas(kCacheLine) unsigned pieces_ = 0;  // that the thread with the watch has done
};

}  // namespace memfence
