// A partition for any memory model and any observer.
//
// As in BreadthFirst, successors are gathered for a few states, their table entries prefetched, then inserted; those that
// belong elsewhere go into the message for their owner. A search on one partition visits what BreadthFirst visits.
#pragma once

#include <cstring>

#include "cluster/owners.hpp"
#include "cluster/partition.hpp"
#include "search/limits.hpp"
#include "search/path.hpp"

namespace memfence {

template <MemoryModel Semantics, SearchObserver Observer>
class PartitionOf : public Partition {
 public:
  PartitionOf(std::shared_ptr<const Machine> machine, Semantics semantics, bool reduce, Observer seen,
              const PartitionSize& size, std::uint64_t memory_bytes)
      : observer(std::move(seen)),
        machine_(std::move(machine)),
        space_(*machine_, std::move(semantics), reduce),
        states_(space_.words()),
        size_(size),
        limits_(only_memory(memory_bytes)),
        watch_(limits_),
        work_(space_.layout().slots()),
        mail_(static_cast<std::size_t>(size.count), Outgoing<Index>(space_.words())),
        packed_(space_.words()) {
    progress_.state_bits = space_.layout().bits();
  }

  void begin() override {
    for (std::size_t i = 0; i < machine_->initial.size(); ++i) {
      const std::vector<Word> state = space_.initial(i, work_);
      const std::uint64_t hash = hash_words(state.data(), state.size());
      if (owner_of(hash, size_.count) != size_.number) continue;
      note_sender(size_.number);
      const auto inserted = insert(state.data(), hash, kNoIndex);
      if constexpr (requires { observer.is_bad_state(work_); })
        if (inserted.is_new && observer.is_bad_state(work_)) found(Finding{FindingKind::Bad, inserted.index, false, {}});
    }
    if (finding_) progress_.stop = Stop::Found;
    progress_.size = end_ = count_;
    stand();
  }

  void receive(int sender, std::string_view message) override {
    note_sender(sender);
    const std::size_t words = space_.words();
    const MessageHead head = each_of<Index>(
        message, words, [&](const Word* state, Index parent) { gather(state, hash_words(state, words), parent); });
    left_elsewhere_ += head.left;
    flush();
  }

  bool turn() override {
    const bool all_done = !is_fresh_ && next_ == end_ && left_elsewhere_ == 0;
    left_elsewhere_ = 0;
    is_fresh_ = false;
    if (all_done) {
      progress_.size = count_ - end_;
      end_ = count_;
      ++progress_.level;
      stand();
    }
    note_sender(size_.number);
    return all_done;
  }

  void expand() override {
    std::size_t sent = 0;
    const std::uint64_t until = std::min<std::uint64_t>(end_, next_ + size_.round_states);
    while (next_ < until && progress_.stop == Stop::None && sent < kRoundBytes) {
      for (const std::uint64_t piece = std::min<std::uint64_t>(until, next_ + kPiece); next_ < piece; ++next_)
        expand(static_cast<Index>(next_));
      flush();
      sent = 0;
      for (const auto& mail : mail_) sent += mail.size();
    }
    stand();
    if (observer.has_finding() && progress_.found_in == 0 && progress_.stop == Stop::None) progress_.found_in = progress_.level;
  }

  std::size_t message_size(int owner) const override { return mail_[static_cast<std::size_t>(owner)].size(); }
  void write_message(int owner, char* out) override { mail_[static_cast<std::size_t>(owner)].write(progress_.left, out); }

  const PartProgress& progress() const override { return progress_; }
  const std::optional<Finding>& finding() const override { return finding_; }
  std::optional<Race> race() const override {
    if constexpr (requires { observer.race(); })
      return observer.race();
    else
      return std::nullopt;
  }
  std::vector<Attack> attacks() override {
    if constexpr (requires { observer.attacks(); })
      return observer.attacks();
    else
      return {};
  }

  std::size_t words() const override { return space_.words(); }
  std::string_view state(Index index) const override {
    return {reinterpret_cast<const char*>(states_.state(index)), space_.words() * sizeof(Word)};
  }
  Origin parent(Index index) const override {
    const auto after = std::upper_bound(arrivals_.begin(), arrivals_.end(), index,
                                        [](Index at, const Arrival& arrival) { return at < arrival.first; });
    return {std::prev(after)->sender, states_.parent(index)};
  }
  Path path(const std::vector<const Word*>& chain, const std::vector<Step>& more) const override {
    return PathFinder<Semantics>(space_).find(chain, more);
  }

  std::size_t row_size() const override { return space_.words() * sizeof(Word) + sizeof(Index); }
  void write_rows(Index begin, Index end, char* out) const override {
    for (Index index = begin; index < end; ++index, out += row_size()) {
      std::memcpy(out, states_.state(index), space_.words() * sizeof(Word));
      const Index parent = states_.parent(index);
      std::memcpy(out + space_.words() * sizeof(Word), &parent, sizeof parent);
    }
  }
  void restore(std::string_view rows) override {
    for (std::size_t at = 0; at < rows.size(); at += row_size()) {
      Index parent;
      std::memcpy(packed_.data(), rows.data() + at, space_.words() * sizeof(Word));
      std::memcpy(&parent, rows.data() + at + space_.words() * sizeof(Word), sizeof parent);
      gather(packed_.data(), hash_words(packed_.data(), space_.words()), parent);
    }
    flush();
  }
  Counted counted() const override {
    Counted counted{progress_, arrivals_, {}};
    if constexpr (requires { observer.seen(); }) counted.finals = observer.seen();
    return counted;
  }
  void resume(const Counted& counted) override {
    progress_ = counted.progress;
    progress_.state_bits = space_.layout().bits();
    arrivals_ = counted.arrivals;
    next_ = count_ - progress_.left;
    end_ = count_;
    if constexpr (requires { observer.resume(counted.finals); }) observer.resume(counted.finals);
    stand();
  }

  // The sink of Successors.
  void step(const Step& step) {
    emitted_ = true;
    ++progress_.transitions;
    if (observer.is_bad(work_)) found(Finding{FindingKind::Bad, current_, true, step});
    if (!space_.symmetry().is_trivial()) space_.symmetry().canonicalise(work_);
    space_.pack_successor(states_.state(current_), work_, packed_.data());
    const std::uint64_t hash = hash_words(packed_.data(), space_.words());
    const int owner = owner_of(hash, size_.count);
    if (owner == size_.number)
      gather(packed_.data(), hash, current_);
    else
      mail_[static_cast<std::size_t>(owner)].add_once(packed_.data(), hash, current_);
  }
  void failed(const Step& step) {
    emitted_ = true;
    if (machine_->error.empty()) ++progress_.transitions;  // else the step to the error state counts
    if (observer.stops_on_failure()) found(Finding{FindingKind::Failure, current_, true, step});
  }
  void refused() { ++progress_.refused; }

  Observer observer;

 private:
  static constexpr std::uint64_t kPiece = 32;                 // states that are expanded between two flushes
  static constexpr std::size_t kBatch = 64;                   // states that are gathered before they are inserted
  static constexpr std::size_t kRoundBytes = std::size_t{16} << 20;  // of messages

  static Limits only_memory(std::uint64_t bytes) {
    Limits limits;
    limits.memory_bytes = bytes;
    return limits;
  }

  struct Gathered {
    std::uint64_t hash;
    Index parent;
  };

  void expand(Index index) {
    current_ = index;
    space_.load(states_.state(index), work_);
    emitted_ = false;
    const std::uint64_t refused_before = progress_.refused;
    // What another part finds in an earlier level counts: whatever comes after a level with a finding does not.
    if (progress_.found_in == 0 || progress_.found_in == progress_.level) observer.expand(work_, index);
    space_.expand(work_, *this);
    if (emitted_ || progress_.refused != refused_before) return;  // with larger buffers the run would go on
    const bool halted = space_.is_halted(work_);
    if (halted && space_.is_drained(work_))
      observer.final_state(work_, index, progress_.level, states_);
    else if (!halted && observer.stops_on_deadlock())
      found(Finding{FindingKind::Deadlock, index, false, {}});
  }

  // Of the first level with a finding, the one with the smallest parent.
  void found(const Finding& f) {
    if (finding_ && (progress_.found_in != progress_.level || !is_smaller(f, *finding_, states_))) return;
    finding_ = f;
    progress_.found_in = progress_.level;
  }

  void gather(const Word* state, std::uint64_t hash, Index parent) {
    if (gathered_.size() == kBatch) flush();
    const std::size_t words = space_.words();
    if (batch_.empty()) batch_.resize(kBatch * words);
    copy_words(state, &batch_[gathered_.size() * words], words);
    gathered_.push_back({hash, parent});
    states_.prefetch(hash);
  }
  void flush() {
    const Word* state = batch_.data();
    for (const auto& [hash, parent] : gathered_) {
      insert(state, hash, parent);
      state += space_.words();
    }
    gathered_.clear();
  }

  StateSet::Inserted insert(const Word* state, std::uint64_t hash, Index parent) {
    if (progress_.stop != Stop::None) return {kNoIndex, false};
    if (count_ * 2 >= states_.capacity() && states_.can_grow() && !grow()) return {kNoIndex, false};
    states_.reserve(count_ + 1);
    const auto inserted = states_.insert(state, hash, Link(parent, 0), static_cast<Index>(count_));
    if (inserted.is_new) ++count_;
    return inserted;
  }
  bool grow() {
    if (count_ + 1 >= kNoIndex || watch_.would_exceed(states_.bytes(), states_.bytes_to_grow())) {
      progress_.stop = Stop::Memory;
      return false;
    }
    states_.grow();
    return true;
  }

  void note_sender(int sender) {
    if (!arrivals_.empty() && arrivals_.back().first == count_) arrivals_.pop_back();
    if (arrivals_.empty() || arrivals_.back().sender != sender) arrivals_.push_back({static_cast<Index>(count_), sender});
  }

  void stand() {
    progress_.left = end_ - next_;
    progress_.states = count_;
    progress_.bytes = states_.bytes();
    if (progress_.stop == Stop::None) progress_.stop = watch_.check(0, 0, 0, progress_.bytes);
    if constexpr (requires { observer.cut_short(); })
      if (progress_.stop == Stop::None) progress_.stop = observer.cut_short();
  }

  std::shared_ptr<const Machine> machine_;
  Space<Semantics> space_;
  StateSet states_;
  const PartitionSize size_;
  const Limits limits_;
  Watch watch_;
  Work work_;
  std::vector<Outgoing<Index>> mail_;
  std::vector<Word> packed_, batch_;
  std::vector<Gathered> gathered_;
  std::vector<Arrival> arrivals_;
  std::uint64_t count_ = 0, next_ = 0, end_ = 0;  // states kept; the next to expand; where its level ends
  std::uint64_t left_elsewhere_ = 0;
  Index current_ = 0;
  bool emitted_ = false;
  bool is_fresh_ = true;  // this level is to be expanded first
  std::optional<Finding> finding_;
  PartProgress progress_;
};

}  // namespace memfence
