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

#include "search/levels.hpp"
#include "search/limits.hpp"
#include "search/observer.hpp"
#include "search/path.hpp"

namespace memfence {

template <MemoryModel Semantics, SearchObserver Observer>
class BreadthFirst {
 public:
  BreadthFirst(const Machine& m, Semantics semantics, bool reduce, Observer observer, const Limits& limits, int threads)
      : space_(m, std::move(semantics), reduce),
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
      stats_.transitions += worker->transitions;
      stats_.refused += worker->refusals;
      if (worker != workers_[0]) observer().merge(worker->observer, states_);
    }
    return stop_;
  }

  const SearchStats& stats() const { return stats_; }
  // After run(): what all threads together have observed.
  Observer& observer() { return workers_[0]->observer; }
  const std::optional<Finding>& finding() const { return finding_; }
  const StateSet& states() const { return states_; }

  // The steps from an initial state to `index`, then `more`: see PathFinder.
  Path path(Index index, const std::vector<Step>& more) const {
    typename PathFinder<Semantics>::Chain chain;
    for (; index != kNoIndex; index = states_.parent(index)) chain.push_back(states_.state(index));
    std::reverse(chain.begin(), chain.end());
    return PathFinder<Semantics>(space_).find(chain, more);
  }

  // The values of all slots in state `index`.
  std::vector<Value> values(Index index) const {
    Work work(space_.layout().slots());
    space_.load(states_.state(index), work);
    return {work.data(), work.data() + space_.layout().slots()};
  }

  // The values of every state in turn.
  template <class Visit>
  void for_each_values(Visit&& visit) const {
    Work work(space_.layout().slots());
    for_each_state([&](Index index) {
      space_.load(states_.state(index), work);
      visit(work.data());
    });
  }

  template <class Visit>
  void for_each_state(Visit&& visit) const {
    for (std::uint64_t index = 0; index < levels_.allocated(); ++index)
      if (levels_.is_used(static_cast<Index>(index))) visit(static_cast<Index>(index));
  }

 private:
  static constexpr std::uint64_t kParallelLevel = 2048;  // a smaller level is not worth waking a thread for
  static constexpr std::uint64_t kLarge = 50'000;        // states from which on more than one thread may work

  // One thread's part of the search; also the sink of Successors.
  struct Worker {
    Worker(BreadthFirst& s, const Observer& o) : search(s), observer(o), work(s.space_.layout().slots()) {}

    void expand(Index index) {
      current = index;
      search.space_.load(search.states_.state(index), work);
      emitted = false;
      const std::uint64_t refused_before = refusals;
      observer.expand(work, index);
      search.space_.expand(work, *this);
      if (emitted || refusals != refused_before) return;  // with larger buffers the run would go on
      const bool halted = search.space_.is_halted(work);
      if (halted && search.space_.is_drained(work))
        observer.final_state(work, index, search.stats_.depth, search.states_);
      else if (!halted && observer.stops_on_deadlock())
        found(Finding{FindingKind::Deadlock, index, false, {}});
    }

    void step(const Step& step) {
      emitted = true;
      ++transitions;
      if (observer.is_bad(work)) found(Finding{FindingKind::Bad, current, true, step});
      if (!search.space_.symmetry().is_trivial()) search.space_.symmetry().canonicalise(work);
      const std::size_t words = search.space_.words();
      if ((gathered.size() + 1) * words > packed.size()) packed.resize(2 * packed.size() + 64 * words);
      Word* const state = &packed[gathered.size() * words];
      search.space_.pack_successor(search.states_.state(current), work, state);
      const std::uint64_t hash = hash_words(state, words);
      gathered.push_back({hash, current});
      search.states_.prefetch(hash);
    }
    void failed(const Step& step) {
      emitted = true;
      if (search.space_.machine().error.empty()) ++transitions;  // else the step to the error state counts
      if (observer.stops_on_failure()) found(Finding{FindingKind::Failure, current, true, step});
    }
    void refused() { ++refusals; }

    void found(const Finding& f) {
      if (!finding || (search.is_large_ && is_smaller(f, *finding, search.states_))) finding = f;
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
    Observer observer;
    Work work;
    Levels::Share share;
    struct Gathered {
      std::uint64_t hash;
      Index parent;
    };
    std::vector<Gathered> gathered;  // successors found since the last flush,
    std::vector<Word> packed;        // and their states, one after the other
    Index current = 0;
    bool emitted = false;
    std::uint64_t transitions = 0, refusals = 0, states = 0;
    std::optional<Finding> finding;
  };

  void add_worker() {
    workers_.push_back(std::make_unique<Worker>(*this, observer_));
    levels_.add(workers_.back()->share);
  }

  void insert_initial() {
    Worker& worker = *workers_[0];
    levels_.begin();
    for (std::size_t i = 0; i < space_.machine().initial.size(); ++i) {
      const std::vector<Word> state = space_.initial(i, worker.work);
      levels_.reserve(worker.share);
      const auto inserted = states_.insert(state.data(), hash_words(state.data(), state.size()), kNoIndex, worker.share.next);
      if (inserted.is_new) {
        ++worker.share.next;
        ++worker.states;
        if constexpr (requires { worker.observer.is_bad_state(worker.work); })
          if (!finding_ && worker.observer.is_bad_state(worker.work))
            finding_ = Finding{FindingKind::Bad, inserted.index, false, {}};
      }
      if (levels_.wants_to_grow()) levels_.grow();
    }
    if (finding_) stop_ = Stop::Found;
    levels_.end();
  }

  void run_level(Watch& watch) {
    if (!is_large_ && levels_.states() >= kLarge) {
      is_large_ = true;
      while (static_cast<int>(workers_.size()) < threads_) add_worker();
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
      if (worker->finding && (!finding_ || is_smaller(*worker->finding, *finding_, states_))) finding_ = worker->finding;
      if (worker->observer.has_finding() && stop_ == Stop::None) stop_ = Stop::Found;
    }
    if (finding_) stop_ = Stop::Found;
    levels_.end();
  }

  // Expand pieces of the level until none is left, the table wants to grow, or the search is to stop.
  void run_pieces(Worker& worker, Watch* watch) {
    while (stop_ == Stop::None && !levels_.wants_to_grow()) {
      const Levels::Range* piece = levels_.take_piece();
      if (!piece) return;
      for (Index index = piece->begin; index < piece->end; ++index) {
        worker.expand(index);
        if (worker.finding && !is_large_) return finish(worker);
      }
      worker.flush();
      if (worker.observer.has_finding() && !is_large_) return finish(worker);
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

  std::uint64_t transitions_so_far() const { return workers_[0]->transitions * workers_.size(); }

  Space<Semantics> space_;
  StateSet states_;
  Levels levels_;
  const Observer observer_;  // as each thread starts with it
  const Limits& limits_;
  int threads_;

  std::vector<std::unique_ptr<Worker>> workers_;
  bool is_large_ = false;
  unsigned pieces_ = 0;  // that the thread with the watch has done
  std::atomic<Stop> stop_ = Stop::None;
  std::optional<Finding> finding_;
  SearchStats stats_;
};

}  // namespace memfence
