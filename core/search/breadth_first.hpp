// Breadth-first search with parents, level by level, on one or more threads.
//
// A level is a list of index ranges; threads take pieces of it from a shared counter and insert successors into the one
// state set. Successors are gathered for a few states at a time, their table entries prefetched, then inserted: the
// search waits for memory once a batch instead of once a state. Whenever the table wants to grow, all threads stand still.
//
// Same answer for any number of threads: a level is finished before a finding counts, among the findings of a level the
// one with the smallest parent (as packed words) wins, and a state with several parents keeps the smallest. A search that
// is still small works on one thread, whose order is fixed anyway: there the first parent and the first finding count, and
// a finding ends the search at once. The change to the other rules happens at a level that the number of states alone
// decides, whether there is a second thread or not.
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include "search/expander.hpp"
#include "search/levels.hpp"
#include "search/limits.hpp"
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
      if (worker != workers_[0]) observer().merge(worker->expander.observer, states_);
    }
    return stop_;
  }

  const SearchStats& stats() const { return stats_; }
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

  // One thread's part of the search.
  struct Worker {
    Worker(BreadthFirst& s, const Observer& o) : search(s), expander(s.space_, o) {}

    void expand(Index index) {
      const Word* const parent = search.states_.state(index);
      expander.expand(parent, index, search.stats_.depth, search.states_, [&](const Work& work) {
        const std::size_t words = search.space_.words();
        if ((gathered.size() + 1) * words > packed.size()) packed.resize(2 * packed.size() + 64 * words);
        Word* const state = &packed[gathered.size() * words];
        search.space_.pack_successor(parent, work, state);
        const std::uint64_t hash = hash_words(state, words);
        gathered.push_back({hash, index});
        search.states_.prefetch(hash);
      });
    }

    void flush() {
      const std::size_t words = search.space_.words();
      const Word* state = packed.data();
      for (const auto& [hash, parent] : gathered) {
        search.levels_.reserve(share);
        const auto [index, is_new] = search.states_.insert(state, hash, parent, share.next);
        state += words;
        if (is_new) {
          ++share.next;
          ++states;
        } else if (search.is_large_ && search.levels_.is_in_next(index)) {
          search.states_.prefer_parent(index, parent);
        }
      }
      gathered.clear();
    }

    BreadthFirst& search;
    Expander<Semantics, Observer> expander;
    Levels::Share share;
    struct Gathered {
      std::uint64_t hash;
      Index parent;
    };
    std::vector<Gathered> gathered;  // successors found since the last flush,
    std::vector<Word> packed;        // and their states, one after the other
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
      const auto inserted = states_.insert(state.data(), hash_words(state.data(), state.size()), kNoIndex, worker.share.next);
      if (inserted.is_new) {
        ++worker.share.next;
        ++worker.states;
        if (!found_ && is_bad_initially(worker.expander)) found_ = Found{{FindingKind::Bad, inserted.index, false, {}}, state};
      }
      if (levels_.wants_to_grow()) levels_.grow();
    }
    if (found_) stop_ = Stop::Found;
    levels_.end();
  }

  void run_level(Watch& watch) {
    if (!is_large_ && levels_.states() >= kLargeSearch) {
      is_large_ = true;
      while (static_cast<int>(workers_.size()) < threads_) add_worker();
      for (const auto& worker : workers_) worker->expander.keeps_smallest = true;
    }
    levels_.begin();
    while (stop_ == Stop::None && levels_.has_piece()) {
      if (levels_.wants_to_grow()) {
        if (watch.would_exceed(states_.bytes(), states_.bytes_to_grow())) {
          stop_ = Stop::Memory;
          break;
        }
        levels_.grow();
      }
      std::vector<std::jthread> others;
      if (levels_.size() >= kParallelLevel)
        for (std::size_t i = 1; i < workers_.size(); ++i) others.emplace_back([this, i] { run_pieces(*workers_[i], nullptr); });
      run_pieces(*workers_[0], &watch);
    }
    for (const auto& worker : workers_) {
      keep_smallest(found_, worker->expander.found);
      if (worker->expander.observer.has_finding() && stop_ == Stop::None) stop_ = Stop::Found;
    }
    if (found_) stop_ = Stop::Found;
    levels_.end();
  }

  // Expand pieces of the level until none is left, the table wants to grow, or the search is to stop.
  void run_pieces(Worker& worker, Watch* watch) {
    while (stop_ == Stop::None && !levels_.wants_to_grow()) {
      const Levels::Range* piece = levels_.take_piece();
      if (!piece) return;
      for (Index index = piece->begin; index < piece->end; ++index) {
        worker.expand(index);
        if (worker.expander.found && !is_large_) return finish(worker);
      }
      worker.flush();
      if (worker.expander.observer.has_finding() && !is_large_) return finish(worker);
      if (watch && ++pieces_ % 16 == 0) {  // over all levels: a deep search may have one piece in each
        const Stop why = watch->check(levels_.states(), transitions_so_far(), levels_.size(), states_.bytes());
        if (why != Stop::None) stop_ = why;
      }
    }
  }
  void finish(Worker& worker) {
    worker.flush();
    stop_ = Stop::Found;
  }

  std::uint64_t transitions_so_far() const { return workers_[0]->expander.transitions * workers_.size(); }

  const Space<Semantics>& space_;
  StateSet states_;
  Levels levels_;
  const Observer observer_;  // as each thread starts with it
  const Limits& limits_;
  int threads_;

  std::vector<std::unique_ptr<Worker>> workers_;
  bool is_large_ = false;
  std::atomic<Stop> stop_ = Stop::None;
  std::optional<Found> found_;
  SearchStats stats_;
  alignas(Levels::kLine) unsigned pieces_ = 0;  // that the thread with the watch has done
};

}  // namespace memfence
