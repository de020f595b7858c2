// The threads of a breadth-first search, and how they share one level after the other.
//
// A level is a list of index ranges; workers take pieces of it, expand the states in them and enter the successors, a batch
// at a time. Whenever the table wants to grow, all of them stand still. A search that is still small has one worker.
#pragma once

#include <atomic>
#include <concepts>
#include <memory>

#include "search/levels.hpp"
#include "search/limits.hpp"

namespace memfence {

// States from which on a search is a large one: several threads may work, levels are finished.
inline constexpr std::uint64_t kLargeSearch = 50'000;

template <class Worker>
concept LevelWorker = requires(Worker& worker, Index index) {
  { worker.share } -> std::same_as<Levels::Share&>;
  { worker.piece } -> std::same_as<Levels::Range&>;  // of the level: what is left of it
  // Gather the successors of a state.
  worker.expand(index);
  // Enter what was gathered. False: the table must grow first.
  { worker.flush() } -> std::same_as<bool>;
  { worker.is_empty() } -> std::same_as<bool>;  // nothing is gathered
  // Whether the state that was expanded last, or a state that was entered, ends a small search at once.
  { worker.ends_here() } -> std::same_as<bool>;
  { worker.ends_soon() } -> std::same_as<bool>;
  { worker.transitions() } -> std::same_as<std::uint64_t>;
};

template <class Worker>
class Crew {
 public:
  Crew(StateSet& states, Levels& levels, int threads) : states_(states), levels_(levels), threads_(std::max(1, threads)) {}
  Crew(const Crew&) = delete;

  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  Worker& first() const { return *workers_[0]; }
  bool is_large() const { return is_large_; }
  void add(std::unique_ptr<Worker> worker) {
    static_assert(LevelWorker<Worker>);
    workers_.push_back(std::move(worker));
    levels_.add(workers_.back()->share);
  }

  // From now on there is a worker for each thread; `make` makes one.
  template <class Make>
  void become_large(Make&& make) {
    is_large_ = true;
    team_ = std::make_unique<Team>(static_cast<std::size_t>(threads_));
    while (workers_.size() < team_->size()) add(make());
  }

  void grow_table() { levels_.grow(*team_); }

  // Expands the level, whose successors are the next one. Found: a worker ended it.
  Stop run_level(Watch& watch) {
    stop_ = Stop::None;
    levels_.begin();
    do {
      if (levels_.wants_to_grow()) {
        if (watch.would_exceed(states_.bytes(), states_.bytes_to_grow())) {
          stop_ = Stop::Memory;
          break;
        }
        grow_table();
      }
      if (levels_.size() >= kParallelLevel)
        team_->run(workers_.size(), [&](std::size_t member, std::size_t number) {
          run_pieces(*workers_[number], member == 0 ? &watch : nullptr);
        });
      else
        run_pieces(first(), &watch);
    } while (stop_ == Stop::None && is_level_unfinished());
    return stop_;
  }

  // What the workers hold beside the states.
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    if constexpr (requires(const Worker& worker) { worker.bytes(); })
      for (const auto& worker : workers_) sum += worker->bytes();
    return sum;
  }

 private:
  static constexpr std::uint64_t kParallelLevel = 2048;  // a smaller level is not worth waking a thread for
  static constexpr Index kExpanded = 32;                 // states whose successors are gathered before they are entered

  bool is_level_unfinished() const {
    return levels_.has_piece() || std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) {
             return !worker->is_empty() || worker->piece.begin < worker->piece.end;
           });
  }

  // Expand pieces of the level until none is left, the table wants to grow, or the search is to stop.
  void run_pieces(Worker& worker, Watch* watch) {
    while (stop_ == Stop::None && worker.flush() && !levels_.wants_to_grow()) {
      if (worker.piece.begin == worker.piece.end) worker.piece = levels_.take_piece(worker.share);
      if (worker.piece.begin == worker.piece.end) return;
      for (Index left = kExpanded; left > 0 && worker.piece.begin < worker.piece.end; --left) {
        worker.expand(worker.piece.begin++);
        if (!is_large_ && worker.ends_here()) return finish(worker);
      }
      if (!worker.flush()) return;
      if (!is_large_ && worker.ends_soon()) return finish(worker);
      if (watch && ++pieces_ % 16 == 0) {  // over all levels: a deep search may have one piece in each
        const std::uint64_t transitions = worker.transitions() * workers_.size();  // about: others are busy
        const Stop why = watch->check(levels_.states_about(), transitions, levels_.size(), states_.bytes() + bytes());
        if (why != Stop::None) stop_ = why;
      }
    }
  }
  void finish(Worker& worker) {
    worker.flush();
    stop_ = Stop::Found;
  }

  StateSet& states_;
  Levels& levels_;
  int threads_;
  std::unique_ptr<Team> team_ = std::make_unique<Team>(1);
  std::vector<std::unique_ptr<Worker>> workers_;
  bool is_large_ = false;
  std::atomic<Stop> stop_ = Stop::None;
  alignas(kCacheLine) unsigned pieces_ = 0;  // that the thread with the watch has done
};

}  // namespace memfence
