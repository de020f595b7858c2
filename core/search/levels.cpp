#include "search/levels.hpp"

namespace memfence {

void Levels::begin() {
  level_allocated_ = allocated_;
  for (Share* share : shares_) {
    share->level_next = share->range_begin = share->next;
    share->level_block_end = share->block_end;
    share->filled.clear();
  }
}

void Levels::end() {
  size_ = 0;
  for (Share* share : shares_) {
    close_range(*share);
    share->pieces.clear();
    share->taken = 0;
    for (const Range& r : share->filled) {
      size_ += r.end - r.begin;
      for (std::uint64_t at = r.begin; at < r.end; at += kPiece)
        share->pieces.push_back({static_cast<Index>(at), static_cast<Index>(std::min<std::uint64_t>(r.end, at + kPiece))});
    }
  }
}

void Levels::close_range(Share& share) {
  if (share.next > share.range_begin) share.filled.push_back({share.range_begin, share.next});
  share.range_begin = share.next;
}

bool Levels::take_block(Share& share) {
  const std::lock_guard guard(allocation_);
  if (must_grow()) return false;
  close_range(share);
  if (allocated_ + kBlock >= kNoIndex) throw std::bad_alloc();
  states_.reserve(allocated_ + kBlock);
  share.next = share.range_begin = static_cast<Index>(allocated_);
  share.block_end = static_cast<Index>(allocated_ + kBlock);
  allocated_ += kBlock;
  return true;
}

std::uint64_t Levels::states() const {
  std::uint64_t sum = allocated_;
  for (const Share* share : shares_) sum -= share->block_end - share->next;
  return sum;
}

void Levels::grow(Team& team) {
  const std::size_t before = states_.capacity(), part = before / team.size() + 1;
  states_.begin_to_grow();
  team.run(team.size(), [&](std::size_t, std::size_t number) {
    states_.move_entries(std::min(before, number * part), std::min(before, (number + 1) * part));
  });
  states_.end_growing();
}

}  // namespace memfence
