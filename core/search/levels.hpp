// Where the states of each level stand: index ranges of the state set, and each thread's share of the next ones.
//
// Indices are handed out in blocks, so that a thread can number the states it finds without asking anybody. What is left of
// a block when its level ends goes to the next level: the states of a level are then a list of ranges, cut into pieces. A
// thread first takes the pieces that it has found itself, since they are in its own cache, then those of others.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "search/state_set.hpp"
#include "search/team.hpp"

namespace memfence {

class Levels {
 public:
  static constexpr std::uint64_t kBlock = 512;  // indices a thread takes at a time
  static constexpr std::uint64_t kPiece = 128;  // states that a thread takes at a time

  struct Range {
    Index begin = 0, end = 0;
  };

  // One thread's block, and what it has filled. What other threads read all the time is fixed while a level lasts, and stands
  // apart from what changes with every state: else each new state would take the line from the other threads' caches.
  struct alignas(kCacheLine) Share {
    Index next = 0, block_end = 0;  // the block being filled
    Index range_begin = 0;          // what of it belongs to the next level
    std::vector<Range> filled;      // this thread's part of the next level, as far as closed
    alignas(kCacheLine) Index level_next = 0;
    Index level_block_end = 0;    // `next` and `block_end` when the level began
    std::vector<Range> pieces;    // this thread's part of the present level,
    alignas(kCacheLine) std::atomic<std::size_t> taken = 0;  // and how many of them somebody has taken
  };

  explicit Levels(StateSet& states) : states_(states) {}

  void add(Share& share) { shares_.push_back(&share); }

  // States found from now on belong to the next level; until end(), pieces of the present one can be taken.
  void begin();
  void end();

  // The number of states of the present level.
  std::uint64_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }
  // A piece that nobody has taken, one of `share` if possible; empty: there is none.
  Range take_piece(Share& share) {
    if (const Range own = take_from(share); own.begin < own.end) return own;
    for (Share* other : shares_)
      if (const Range piece = take_from(*other); piece.begin < piece.end) return piece;
    return {};
  }
  bool has_piece() const {
    return std::any_of(shares_.begin(), shares_.end(), [](const Share* share) { return share->taken < share->pieces.size(); });
  }

  // Make sure that `share.next` is an index to be used. False: the table is so full that it must grow before that.
  bool reserve(Share& share) { return share.next != share.block_end || take_block(share); }
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
  // The same while other threads find more.
  std::uint64_t states_about() const { return shares_.size() == 1 ? states() : allocated(); }

  // The table is to grow soon; only while no thread inserts.
  bool wants_to_grow() const { return allocated_ >= states_.capacity() / 2 && states_.can_grow(); }
  void grow(Team& team);

 private:
  // A table fuller than this is slow, and one that is full never finds anything.
  bool must_grow() const { return allocated_ + kBlock > states_.capacity() / 8 * 7 && states_.can_grow(); }
  bool take_block(Share& share);
  static Range take_from(Share& share) {
    if (share.taken.load(std::memory_order_relaxed) >= share.pieces.size()) return {};
    const std::size_t piece = share.taken.fetch_add(1, std::memory_order_relaxed);
    return piece < share.pieces.size() ? share.pieces[piece] : Range{};
  }
  void close_range(Share& share);

  StateSet& states_;
  std::vector<Share*> shares_;
  std::uint64_t size_ = 0, level_allocated_ = 0;
  alignas(kCacheLine) std::atomic<std::uint64_t> allocated_ = 0;
  std::mutex allocation_;
};

}  // namespace memfence
