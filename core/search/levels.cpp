#include "search/levels.hpp"

#include <thread>

namespace memfence {

void Levels::begin() {
  cursor_ = 0;
  level_allocated_ = allocated_;
  for (Share* share : shares_) {
    share->level_next = share->range_begin = share->next;
    share->level_block_end = share->block_end;
    share->filled.clear();
  }
}

void Levels::end() {
  pieces_.clear();
  size_ = 0;
  for (Share* share : shares_) {
    close_range(*share);
    for (const Range& r : share->filled)
      for (std::uint64_t at = r.begin; at < r.end; at += kPiece) {
        pieces_.push_back({static_cast<Index>(at), static_cast<Index>(std::min<std::uint64_t>(r.end, at + kPiece))});
        size_ += pieces_.back().end - pieces_.back().begin;
      }
  }
}

void Levels::close_range(Share& share) {
  if (share.next > share.range_begin) share.filled.push_back({share.range_begin, share.next});
  share.range_begin = share.next;
}

void Levels::take_block(Share& share) {
  close_range(share);
  const std::lock_guard guard(allocation_);
  if (allocated_ + kBlock >= kNoIndex) throw std::bad_alloc();
  states_.reserve(allocated_ + kBlock);
  share.next = share.range_begin = static_cast<Index>(allocated_);
  share.block_end = static_cast<Index>(allocated_ + kBlock);
  allocated_ += kBlock;
}

std::uint64_t Levels::states() const {
  std::uint64_t sum = allocated_;
  for (const Share* share : shares_) sum -= share->block_end - share->next;
  return sum;
}

void Levels::grow() {
  states_.double_table();
  const std::uint64_t part = allocated_ / shares_.size() + 1;
  const auto enter_part = [this, part](std::size_t i) {
    states_.enter_again(i * part, std::min<std::uint64_t>((i + 1) * part, allocated_),
                        [this](Index index) { return is_used(index); });
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < shares_.size(); ++i) others.emplace_back(enter_part, i);
  enter_part(0);
}

}  // namespace memfence
