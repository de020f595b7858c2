// Where the states of each level stand: index ranges of the state set, and each thread's share of the next ones.
//
// Indices are handed out in blocks, so that a thread can number the states it finds without asking anybody. What is left of
// a block when its level ends goes to the next level: the states of a level are then a list of ranges, cut into pieces that
// threads take from a shared counter.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "search/state_set.hpp"

namespace memfence {

class Levels {
 public:
  static constexpr std::size_t kLine = 64;      // bytes that caches hand to each other
  static constexpr std::uint64_t kBlock = 256;  // indices a thread takes at a time
  static constexpr std::uint64_t kPiece = 32;   // states a thread expands between looks at the limits

  struct Range {
    Index begin, end;
  };

  // One thread's block, and what it has filled. What other threads read all the time is fixed while a level lasts, and stands
  // apart from what changes with every state: else each new state would take the line from the other threads' caches.
  struct alignas(kLine) Share {
    Index next = 0, block_end = 0;  // the block being filled
    Index range_begin = 0;          // what of it belongs to the next level
    std::vector<Range> filled;      // this thread's part of the next level, as far as closed
    alignas(kLine) Index level_next = 0;
    Index level_block_end = 0;  // `next` and `block_end` when the level began
  };

  explicit Levels(StateSet& states) : states_(states) {}

  void add(Share& share) { shares_.push_back(&share); }

  // States found from now on belong to the next level; until end(), pieces of the present one can be taken.
  void begin();
  void end();

  // The number of states of the present level.
  std::uint64_t size() const { return size_; }
  bool is_empty() const { return pieces_.empty(); }
  // The next piece that nobody has taken; null: there is none.
  const Range* take_piece() {
    const std::size_t piece = cursor_.fetch_add(1);
    return piece < pieces_.size() ? &pieces_[piece] : nullptr;
  }
  bool has_piece() const { return cursor_ < pieces_.size(); }

  // Make sure that `share.next` is an index to be used.
  void reserve(Share& share) {
    if (share.next == share.block_end) take_block(share);
  }
  // Whether the state belongs to the level that is being found.
  bool is_in_next(Index index) const {
    if (index >= level_allocated_) return true;
    for (const Share* share : shares_)
      if (index >= share->level_next && index < share->level_block_end) return true;
    return false;
  }
  bool is_used(Index index) const {
    for (const Share* share : shares_)
      if (index >= share->next && index < share->block_end) return false;
    return true;
  }

  // All indices below this one are used, or left over in a block.
  std::uint64_t allocated() const { return allocated_; }
  std::uint64_t states() const;

  // The table must grow before more states come; only while no thread inserts.
  bool wants_to_grow() const { return allocated_ >= states_.capacity() / 2 + kBlock * shares_.size(); }
  void grow();

 private:
  void take_block(Share& share);
  void close_range(Share& share);

  StateSet& states_;
  std::vector<Share*> shares_;
  std::vector<Range> pieces_;
  std::uint64_t size_ = 0, level_allocated_ = 0;
  alignas(kLine) std::atomic<std::size_t> cursor_ = 0;
  alignas(kLine) std::atomic<std::uint64_t> allocated_ = 0;
  std::mutex allocation_;
};

}  // namespace memfence
