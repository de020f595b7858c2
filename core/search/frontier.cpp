#include "search/frontier.hpp"

namespace memfence {

void Frontier::advance() {
  first_ += size_;
  size_ = 0;
  blocks_.clear();
  pieces_.clear();
  std::uint64_t in_piece = kPiece;
  for (RecordBlocks& part : next_) {
    for (Records& records : part.blocks()) {
      const std::uint64_t count = records.count();
      if (in_piece + count > kPiece) {
        pieces_.push_back({blocks_.size(), blocks_.size()});
        in_piece = 0;
      }
      in_piece += count;
      blocks_.push_back({std::move(records), first_ + size_});
      pieces_.back().end = blocks_.size();
      size_ += count;
    }
    part.blocks().clear();
  }
}

std::uint64_t Frontier::next_size() const {
  std::uint64_t sum = 0;
  for (const RecordBlocks& part : next_) sum += part.count();
  return sum;
}

}  // namespace memfence
