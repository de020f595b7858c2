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
#include <mutex>
#include <optional>
#include <thread>

#include "search/limits.hpp"
#include "search/observer.hpp"
#include "search/symmetry.hpp"

namespace memfence {

struct SearchStats {
  std::uint64_t states = 0, transitions = 0, refused = 0, depth = 0, widest = 0, bytes = 0, state_bits = 0;
  double seconds = 0;
};

enum class FindingKind : std::int32_t { Bad, Failure, Deadlock };

// Where the search ended: in the state `parent`, or by the step from it.
struct Finding {
  FindingKind kind;
  Index parent;
  bool has_step;
  Step step;
};

template <MemoryModel Semantics, SearchObserver Observer>
class BreadthFirst {
 public:
  BreadthFirst(const Machine& m, Semantics semantics, bool reduce, Observer observer, const Limits& limits, int threads)
      : machine_(m),
        semantics_(std::move(semantics)),
        layout_(semantics_.slots),
        successors_(machine_, semantics_, reduce),
        symmetry_(machine_, semantics_),
        states_(layout_.words()),
        observer_(std::move(observer)),
        limits_(limits),
        threads_(std::max(1, threads)) {}
  BreadthFirst(const BreadthFirst&) = delete;

  Stop run() {
    Watch watch(limits_);
    workers_.push_back(std::make_unique<Worker>(*this, observer_));
    insert_initial();
    while (stop_ == Stop::None && !level_.empty()) {
      ++stats_.depth;
      stats_.widest = std::max(stats_.widest, level_size_);
      run_level(watch);
      if (stop_ == Stop::None && limits_.most_states && states_so_far() >= limits_.most_states) stop_ = Stop::States;
    }
    stats_.seconds = watch.seconds();
    stats_.bytes = states_.bytes();
    stats_.state_bits = layout_.bits();
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

  // The steps from an initial state to `index`, then `more` (in terms of the stored state); `start` is the number of that
  // initial state among the machine's. Where identical processes changed places, the steps name the real ones; `who` tells
  // which process stands at which place in the end.
  std::vector<Step> path(Index index, const std::vector<Step>& more, std::size_t& start, std::vector<int>& who) const {
    std::vector<Index> chain{index};
    while (states_.parent(chain.back()) != kNoIndex) chain.push_back(states_.parent(chain.back()));
    Work work(layout_.slots());
    for (start = 0; start < machine_.initial.size(); ++start) {
      who.resize(machine_.processes.size());
      std::iota(who.begin(), who.end(), 0);
      if (is_state(chain.back(), packed_initial(start, work, &who).data())) break;
    }
    std::vector<Step> steps;
    for (std::size_t i = chain.size() - 1; i > 0; --i) {
      const std::vector<int> before = who;
      steps.push_back(real_step(step_between(chain[i], chain[i - 1], who), before));
    }
    for (const Step& step : more) steps.push_back(real_step(step, who));
    return steps;
  }

  // The values of all slots in state `index`.
  std::vector<Value> values(Index index) const {
    Work work(layout_.slots());
    layout_.unpack(states_.state(index), work.data());
    semantics_.derive(work);
    return {work.data(), work.data() + layout_.slots()};
  }

  template <class Visit>
  void for_each_state(Visit&& visit) const {
    for (std::uint64_t index = 0; index < allocated_; ++index)
      if (is_used(static_cast<Index>(index))) visit(static_cast<Index>(index));
  }

 private:
  static constexpr std::uint64_t kBlock = 256;           // indices a thread takes at a time
  static constexpr std::uint64_t kPiece = 32;            // states a thread expands between looks at the limits
  static constexpr std::uint64_t kParallelLevel = 2048;  // a smaller level is not worth waking a thread for
  static constexpr std::uint64_t kLarge = 50'000;        // states from which on more than one thread may work

  struct Range {
    Index begin, end;
  };

  // One thread's part of the search; also the sink of Successors.
  struct Worker {
    Worker(BreadthFirst& s, const Observer& o) : search(s), observer(o), work(s.layout_.slots()) {}

    void expand(Index index) {
      current = index;
      search.layout_.unpack(search.states_.state(index), work.data());
      search.semantics_.derive(work);
      work.settle();
      emitted = false;
      observer.expand(work, index);
      search.successors_.expand(work, *this);
      if (emitted) return;
      const bool halted = search.is_halted(work);
      if (halted && search.is_drained(work))
        observer.final_state(work, index, search.stats_.depth, search.states_);
      else if (!halted && observer.stops_on_deadlock())
        found(Finding{FindingKind::Deadlock, index, false, {}});
    }

    void step(const Step& step) {
      emitted = true;
      ++transitions;
      if (observer.is_bad(work)) found(Finding{FindingKind::Bad, current, true, step});
      if (!search.symmetry_.is_trivial()) search.symmetry_.canonicalise(work);
      const std::size_t words = search.layout_.words();
      if ((gathered.size() + 1) * words > packed.size()) packed.resize(2 * packed.size() + 64 * words);
      Word* const state = &packed[gathered.size() * words];
      copy_words(search.states_.state(current), state, words);
      for (const Work::Change& change : work.log()) search.layout_.write(state, change.slot, work[change.slot]);
      const std::uint64_t hash = hash_words(state, words);
      gathered.push_back({hash, current});
      search.states_.prefetch(hash);
    }
    void failed(const Step& step) {
      emitted = true;
      if (search.machine_.error.empty()) ++transitions;  // else the step to the error state counts
      if (observer.stops_on_failure()) found(Finding{FindingKind::Failure, current, true, step});
    }
    void refused() { ++refusals; }

    void found(const Finding& f) {
      if (!finding || (search.is_large_ && search.is_smaller(f, *finding))) finding = f;
    }

    void flush() {
      const std::size_t words = search.layout_.words();
      const Word* state = packed.data();
      for (const auto& [hash, parent] : gathered) {
        if (next == block_end) search.take_block(*this);
        const auto [index, is_new] = search.states_.insert(state, hash, parent, next);
        state += words;
        if (is_new) {
          ++next;
          ++states;
        } else if (search.is_large_ && search.is_in_next_level(index)) {
          search.states_.prefer_parent(index, parent);
        }
      }
      gathered.clear();
    }

    BreadthFirst& search;
    Observer observer;
    Work work;
    Index next = 0, block_end = 0;          // the block being filled
    Index range_begin = 0;                  // what of it belongs to the next level
    Index level_next = 0, level_block_end = 0;  // `next` and `block_end` when the level began
    std::vector<Range> filled;              // this thread's part of the next level, as far as closed
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
  friend struct Worker;

  void insert_initial() {
    Worker& worker = *workers_[0];
    begin_level();
    for (std::size_t i = 0; i < machine_.initial.size(); ++i) {
      const std::vector<Word> state = packed_initial(i, worker.work);
      if (worker.next == worker.block_end) take_block(worker);
      const auto inserted = states_.insert(state.data(), hash_words(state.data(), state.size()), kNoIndex, worker.next);
      if (inserted.is_new) {
        ++worker.next;
        ++worker.states;
        if constexpr (requires { worker.observer.is_bad_state(worker.work); })
          if (!finding_ && worker.observer.is_bad_state(worker.work))
            finding_ = Finding{FindingKind::Bad, inserted.index, false, {}};
      }
      if (allocated_ >= grow_at()) grow();
    }
    if (finding_) stop_ = Stop::Found;
    end_level();
  }

  std::vector<Word> packed_initial(std::size_t number, Work& work, std::vector<int>* who = nullptr) const {
    std::fill_n(work.data(), layout_.slots(), 0);
    std::copy(machine_.initial[number].begin(), machine_.initial[number].end(), work.data());
    symmetry_.canonicalise(work, who);
    work.settle();
    std::vector<Word> state(layout_.words(), 0);
    layout_.pack(work.data(), state.data());
    return state;
  }

  void run_level(Watch& watch) {
    begin_level();
    while (stop_ == Stop::None && cursor_ < level_.size()) {
      if (allocated_ >= grow_at()) {
        if (watch.would_exceed(states_.bytes(), states_.bytes_to_grow())) {
          stop_ = Stop::Memory;
          break;
        }
        grow();
      }
      std::vector<std::jthread> others;
      if (level_size_ >= kParallelLevel)
        for (std::size_t i = 1; i < workers_.size(); ++i) others.emplace_back([this, i] { run_pieces(*workers_[i], nullptr); });
      run_pieces(*workers_[0], &watch);
    }
    for (const auto& worker : workers_) {
      if (worker->finding && (!finding_ || is_smaller(*worker->finding, *finding_))) finding_ = worker->finding;
      if (worker->observer.has_finding() && stop_ == Stop::None) stop_ = Stop::Found;
    }
    if (finding_) stop_ = Stop::Found;
    end_level();
  }

  // Expand pieces of the level until none is left, the table wants to grow, or the search is to stop.
  void run_pieces(Worker& worker, Watch* watch) {
    while (stop_ == Stop::None && allocated_ < grow_at()) {
      const std::size_t piece = cursor_.fetch_add(1);
      if (piece >= level_.size()) return;
      for (Index index = level_[piece].begin; index < level_[piece].end; ++index) {
        worker.expand(index);
        if (worker.finding && !is_large_) return finish(worker);
      }
      worker.flush();
      if (worker.observer.has_finding() && !is_large_) return finish(worker);
      if (watch && ++pieces_ % 16 == 0) {  // over all levels: a deep search may have one piece in each
        const Stop why = watch->check(states_so_far(), transitions_so_far(), level_size_, states_.bytes());
        if (why != Stop::None) stop_ = why;
      }
    }
  }
  void finish(Worker& worker) {
    worker.flush();
    stop_ = Stop::Found;
  }

  void begin_level() {
    if (!is_large_ && states_so_far() >= kLarge) {
      is_large_ = true;
      while (static_cast<int>(workers_.size()) < threads_) workers_.push_back(std::make_unique<Worker>(*this, observer_));
    }
    cursor_ = 0;
    level_allocated_ = allocated_;
    for (auto& worker : workers_) {
      worker->level_next = worker->range_begin = worker->next;
      worker->level_block_end = worker->block_end;
      worker->filled.clear();
    }
  }
  void end_level() {
    level_.clear();
    level_size_ = 0;
    for (auto& worker : workers_) {
      close_range(*worker);
      for (const Range& r : worker->filled)
        for (std::uint64_t at = r.begin; at < r.end; at += kPiece) {
          level_.push_back({static_cast<Index>(at), static_cast<Index>(std::min<std::uint64_t>(r.end, at + kPiece))});
          level_size_ += level_.back().end - level_.back().begin;
        }
    }
  }
  void close_range(Worker& worker) {
    if (worker.next > worker.range_begin) worker.filled.push_back({worker.range_begin, worker.next});
    worker.range_begin = worker.next;
  }
  void take_block(Worker& worker) {
    close_range(worker);
    const std::lock_guard guard(allocation_);
    if (allocated_ + kBlock >= kNoIndex) throw std::bad_alloc();
    states_.reserve(allocated_ + kBlock);
    worker.next = worker.range_begin = static_cast<Index>(allocated_);
    worker.block_end = static_cast<Index>(allocated_ + kBlock);
    allocated_ += kBlock;
  }
  bool is_in_next_level(Index index) const {
    if (index >= level_allocated_) return true;
    for (const auto& worker : workers_)
      if (index >= worker->level_next && index < worker->level_block_end) return true;
    return false;
  }
  bool is_used(Index index) const {
    for (const auto& worker : workers_)
      if (index >= worker->next && index < worker->block_end) return false;
    return true;
  }
  std::uint64_t grow_at() const { return states_.capacity() / 2 + kBlock * workers_.size(); }
  void grow() {
    states_.double_table();
    const std::uint64_t share = allocated_ / workers_.size() + 1;
    const auto enter_share = [this, share](std::size_t i) {
      states_.enter_again(i * share, std::min<std::uint64_t>((i + 1) * share, allocated_),
                          [this](Index index) { return is_used(index); });
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < workers_.size(); ++i) others.emplace_back(enter_share, i);
    enter_share(0);
  }

  std::uint64_t states_so_far() const {
    std::uint64_t sum = allocated_;
    for (const auto& worker : workers_) sum -= worker->block_end - worker->next;
    return sum;
  }
  std::uint64_t transitions_so_far() const { return workers_[0]->transitions * workers_.size(); }

  bool is_halted(const Work& w) const {
    for (std::size_t p = 0; p < machine_.processes.size(); ++p)
      if (!machine_.is_halted(static_cast<int>(p), w[machine_.processes[p].location_slot])) return false;
    return true;
  }
  bool is_drained(const Work& w) const {
    for (std::size_t p = 0; p < machine_.processes.size(); ++p)
      if (!semantics_.drained(w, static_cast<int>(p))) return false;
    return true;
  }

  bool is_smaller(const Finding& a, const Finding& b) const {
    const int order = std::memcmp(states_.state(a.parent), states_.state(b.parent), layout_.words() * sizeof(Word));
    if (order != 0) return order < 0;
    const auto key = [](const Finding& f) { return std::tuple(f.has_step, f.step.process, f.step.kind, f.step.number); };
    return key(a) < key(b);
  }
  bool is_state(Index index, const Word* packed) const {
    return std::memcmp(states_.state(index), packed, layout_.words() * sizeof(Word)) == 0;
  }

  // The same step for the process that stands at this place: identical processes have matching edges.
  Step real_step(Step step, const std::vector<int>& who) const {
    const int real = who[static_cast<std::size_t>(step.process)];
    if (step.kind == StepKind::Edge && real != step.process) step.number = machine_.matching_edge(step.number, real);
    step.process = real;
    return step;
  }

  Step step_between(Index parent, Index child, std::vector<int>& who) const {
    struct Sink {
      const BreadthFirst& search;
      Index parent, child;
      Work work;
      std::vector<int>& who;
      std::vector<Word> packed;
      std::optional<Step> found;
      void step(const Step& step) {
        if (found) return;
        std::vector<int> exchanged = who;
        search.symmetry_.canonicalise(work, &exchanged);
        std::memcpy(packed.data(), search.states_.state(parent), packed.size() * sizeof(Word));
        for (const Work::Change& change : work.log()) search.layout_.write(packed.data(), change.slot, work[change.slot]);
        if (!search.is_state(child, packed.data())) return;
        found = step;
        who = exchanged;
      }
      void failed(const Step&) {}
      void refused() {}
    } sink{*this, parent, child, Work(layout_.slots()), who, std::vector<Word>(layout_.words()), std::nullopt};
    layout_.unpack(states_.state(parent), sink.work.data());
    semantics_.derive(sink.work);
    successors_.expand(sink.work, sink);
    return sink.found.value();
  }

  const Machine& machine_;
  Semantics semantics_;
  Layout layout_;
  Successors<Semantics> successors_;
  Symmetry symmetry_;
  StateSet states_;
  const Observer observer_;  // as each thread starts with it
  const Limits& limits_;
  int threads_;

  std::vector<std::unique_ptr<Worker>> workers_;
  bool is_large_ = false;
  std::vector<Range> level_;
  std::uint64_t level_size_ = 0, level_allocated_ = 0;
  std::atomic<std::size_t> cursor_ = 0;
  unsigned pieces_ = 0;  // that the thread with the watch has done
  std::atomic<Stop> stop_ = Stop::None;
  std::atomic<std::uint64_t> allocated_ = 0;
  std::mutex allocation_;
  std::optional<Finding> finding_;
  SearchStats stats_;
};

}  // namespace memfence
