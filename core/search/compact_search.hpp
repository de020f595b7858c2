// Breadth-first search that keeps no parents, in a set that stores of each state only what its place does not tell.
//
// A level is worked off in batches. One task is to expand a piece of the level: the successors are sorted by the part of the
// set that they belong to. Another is to enter what one batch found into one part. While a batch is expanded, the one before
// it is entered: all of these tasks are independent, no two threads ever touch the same part of the set, and nothing is
// locked. Each part gets its states in the order in which one thread would have found them, so new states have the same
// numbers for any number of threads.
//
// A run is found again by a second search (Retracing). For that, states can carry a tag: the number of the *relay* that they
// come from, where every state of each `spacing`-th level is a relay, which is kept and knows the relay before it.
#pragma once

#include "search/expander.hpp"
#include "search/frontier.hpp"
#include "search/limits.hpp"
#include "search/team.hpp"

namespace memfence {

template <MemoryModel Semantics, SearchObserver Observer>
class CompactSearch : private StateOrder {
 public:
  using States = std::vector<std::vector<Word>>;

  CompactSearch(const Space<Semantics>& space, const Observer& observer, const Limits& limits, int threads,
                std::uint64_t spacing = 0)
      : space_(space),
        format_(space.layout(), spacing > 0),
        set_(format_),
        frontier_(format_),
        limits_(limits),
        team_(static_cast<std::size_t>(std::max(1, threads))),
        spacing_(spacing) {
    for (std::size_t member = 0; member < team_.size(); ++member) workers_.push_back(std::make_unique<Worker>(space, observer));
    for (Batch& batch : batches_) batch.resize(kPieces * CompactSet::kParts);
  }

  // From these states, to the end or until the level number `last` is known but not expanded.
  Stop run(const States& starts, std::uint64_t last = ~std::uint64_t{0}) {
    Watch watch(limits_);
    insert_starts(starts);
    while (stop_ == Stop::None && frontier_.size() > 0 && first_of_level_.size() <= last) {
      ++stats_.depth;
      run_level(watch);
      if (stop_ == Stop::None) stop_ = watch.check_states(states_);
    }
    finish(watch);
    return stop_;
  }

  const SearchStats& stats() const { return stats_; }
  const std::vector<std::uint8_t>& taken() const { return taken_; }
  Observer& observer() { return workers_[0]->expander.observer; }
  const std::optional<Found>& found() const { return found_; }
  // For every level that was reached, the number of its first state.
  const std::vector<std::uint64_t>& first_of_level() const { return first_of_level_; }

  // To make room; what was observed stays.
  void forget_states() { set_ = CompactSet(format_); }

  // Calls use(packed state) for every state.
  template <class Use>
  void for_each_state(Use&& use) const {
    set_.for_each(space_.words(), use);
  }

  // Of the level that was reached last: calls use(number, packed state, tag) until it returns true.
  template <class Use>
  void find_in_level(Use&& use) {
    std::vector<Word> state(space_.words());
    for (auto& [records, first] : frontier_.blocks())
      for (std::size_t i = 0; i < records.count(); ++i) {
        const std::uint8_t* const record = records.at(format_, i);
        format_.read(record, state.data());
        if (use(first + i, state, format_.tag(record))) return;
      }
  }
  // The states that are relays on the way to `tag`, from the first level on.
  States relays_to(RecordFormat::Tag tag) const {
    States chain;
    for (; tag != kNoRelay; tag = format_.tag(relays_.at(format_, tag))) {
      chain.emplace_back(space_.words());
      format_.read(relays_.at(format_, tag), chain.back().data());
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

 private:
  static constexpr std::size_t kPieces = 16;           // of a level, in a batch
  static constexpr std::uint64_t kParallelLevel = 2048;  // a smaller level is not worth waking a thread for
  static constexpr RecordFormat::Tag kNoRelay = 0xFFFFFFFFu;
  static constexpr std::size_t kAhead = 32;  // states whose places are fetched before they are entered

  // For every piece and part, the successors that were found; one thread fills those of a piece, one reads those of a part.
  using Batch = std::vector<Records>;

  struct alignas(kCacheLine) Worker {
    Worker(const Space<Semantics>& space, const Observer& observer)
        : expander(space, observer), state(space.words()), successor(space.words()) {
      expander.keeps_smallest = true;
    }
    Expander<Semantics, Observer> expander;
    OwnVector<Word> state, successor;
    std::uint64_t states = 0;
  };

  // States have the same numbers for any number of threads.
  bool is_less(Index a, Index b) const final { return a < b; }

  void insert_starts(const States& starts) {
    std::vector<std::uint8_t> record(format_.bytes() + RecordFormat::kSlack);
    Worker& worker = *workers_[0];
    for (const std::vector<Word>& start : starts) {
      std::copy(start.begin(), start.end(), worker.successor.begin());
      format_.mix(worker.successor.data());
      format_.write(worker.successor.data(), record.data());
      const std::size_t part = set_.part_of(worker.successor[0]);
      if (spacing_ > 0) format_.write_tag(record.data(), kNoRelay);
      if (!set_.insert(part, record.data())) continue;
      frontier_.add(part, record.data());
      ++worker.states;
    }
    begin_level();
  }

  void begin_level() {
    frontier_.advance();
    if (frontier_.size() == 0) return;
    states_ = frontier_.first() + frontier_.size();
    if (states_ >= kNoIndex) stop_ = Stop::Memory;  // more than numbers can tell apart
    if (spacing_ > 0 && first_of_level_.size() % spacing_ == 0) make_relays();
    first_of_level_.push_back(frontier_.first());
    stats_.widest = std::max(stats_.widest, frontier_.size());
  }
  void make_relays() {
    for (auto& [records, first] : frontier_.blocks())
      for (std::size_t i = 0; i < records.count(); ++i) {
        const auto number = static_cast<RecordFormat::Tag>(relays_.count());
        std::memcpy(relays_.add(format_), records.at(format_, i), format_.bytes());
        format_.write_tag(records.at(format_, i), number);
      }
  }

  void run_level(Watch& watch) {
    const std::size_t pieces = frontier_.pieces().size();
    const bool is_wide = frontier_.size() >= kParallelLevel && team_.size() > 1;
    std::size_t expanded = 0, before = 0;  // pieces of this batch, and of the one before it
    for (std::size_t round = 0; stop_ == Stop::None && (round == 0 || expanded > 0); ++round) {
      const std::size_t first = std::min(pieces, round * kPieces);
      const std::size_t enter = round > 0 ? CompactSet::kParts : 0;
      Batch &found = batches_[round % 2], &entered = batches_[(round + 1) % 2];
      before = std::exchange(expanded, std::min(kPieces, pieces - first));
      const std::function<void(std::size_t, std::size_t)> task = [&](std::size_t member, std::size_t number) {
        if (number < expanded)
          expand(*workers_[member], frontier_.pieces()[first + number], &found[number * CompactSet::kParts]);
        else
          enter_part(*workers_[member], number - expanded, entered, before);
      };
      if (is_wide)
        team_.run(expanded + enter, task);
      else
        Team::run_alone(expanded + enter, task);
      stop_ = watch.check(states_so_far(), transitions_so_far(), frontier_.size(), bytes());
    }
    for (const auto& worker : workers_) {
      keep_smallest(found_, worker->expander.found);
      if (worker->expander.observer.has_finding() && stop_ == Stop::None) stop_ = Stop::Found;
    }
    if (found_) stop_ = Stop::Found;
    begin_level();
  }

  void expand(Worker& worker, Frontier::Piece piece, Records* found) {
    for (std::size_t part = 0; part < CompactSet::kParts; ++part) found[part].clear();
    for (std::size_t block = piece.begin; block < piece.end; ++block) {
      auto& [records, first] = frontier_.blocks()[block];
      for (std::size_t i = 0; i < records.count(); ++i) {
        const std::uint8_t* const record = records.at(format_, i);
        format_.read(record, worker.state.data());
        const auto take = [&](const Work& work) {
          space_.pack_successor(worker.state.data(), work, worker.successor.data());
          add_successor(worker.successor.data(), record, found);
        };
        worker.expander.expand(worker.state.data(), static_cast<Index>(first + i), stats_.depth, *this, take);
      }
      records.release();
    }
  }
  void add_successor(Word* state, const std::uint8_t* parent, Records* found) {
    format_.mix(state);
    std::uint8_t* const record = found[set_.part_of(state[0])].add(format_);
    format_.write(state, record);
    if (spacing_ > 0) format_.write_tag(record, format_.tag(parent));
  }

  // A cursor runs ahead of the states that are entered, and fetches their places; the lists themselves, which other threads
  // may have written, are fetched one list ahead of it.
  void enter_part(Worker& worker, std::size_t part, const Batch& batch, std::size_t pieces) {
    const auto list = [&](std::size_t piece) -> const Records& { return batch[piece * CompactSet::kParts + part]; };
    std::size_t piece_ahead = 0, ahead = 0;
    const auto fetch_next = [&] {
      while (piece_ahead < pieces && ahead == list(piece_ahead).count()) {
        ++piece_ahead, ahead = 0;
        if (piece_ahead + 1 < pieces) list(piece_ahead + 1).prefetch(format_);
      }
      if (piece_ahead < pieces) set_.prefetch(part, list(piece_ahead).at(format_, ahead++));
    };
    for (std::size_t i = 0; i < kAhead; ++i) fetch_next();
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const Records& records = list(piece);
      for (std::size_t i = 0; i < records.count(); ++i) {
        fetch_next();
        const std::uint8_t* const record = records.at(format_, i);
        if (!set_.insert(part, record)) continue;
        frontier_.add(part, record);
        ++worker.states;
      }
    }
  }

  std::uint64_t states_so_far() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->states;
    return sum;
  }
  std::uint64_t transitions_so_far() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->expander.transitions;
    return sum;
  }
  std::uint64_t bytes() const { return set_.bytes() + frontier_.bytes() + relays_.count() * format_.bytes(); }

  void finish(const Watch& watch) {
    stats_.seconds = watch.seconds();
    stats_.bytes = bytes();
    stats_.state_bits = space_.layout().bits();
    stats_.states = states_so_far();
    stats_.transitions = transitions_so_far();
    for (const auto& worker : workers_) {
      stats_.refused += worker->expander.refusals;
      stats_.failures += worker->expander.failures;
      add_taken(taken_, worker->expander.taken);
      if (worker != workers_[0]) observer().merge(worker->expander.observer, *this);
    }
  }

  const Space<Semantics>& space_;
  RecordFormat format_;
  CompactSet set_;
  Frontier frontier_;
  const Limits limits_;
  Team team_;
  std::uint64_t spacing_;
  RecordBlocks relays_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Batch batches_[2];
  std::vector<std::uint64_t> first_of_level_;
  std::uint64_t states_ = 0;  // as numbered
  Stop stop_ = Stop::None;
  std::optional<Found> found_;
  SearchStats stats_;
  std::vector<std::uint8_t> taken_;
};

}  // namespace memfence
