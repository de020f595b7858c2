// The states of the present level and of the next one, for a search whose set of states has no numbers.
//
// Every part of the set lists the new states that it got, and a level is the lists of all parts in order: its states have
// the same numbers whoever found them.
#pragma once

#include "search/compact_set.hpp"

namespace memfence {

// A long list of records in blocks that never move.
class alignas(kCacheLine) RecordBlocks {  // which different threads may fill
 public:
  static constexpr std::size_t kBlock = 512;

  std::uint8_t* add(const RecordFormat& format) {
    if (blocks_.empty() || blocks_.back().count() == kBlock) blocks_.emplace_back();
    return blocks_.back().add(format);
  }
  std::uint64_t count() const { return blocks_.empty() ? 0 : (blocks_.size() - 1) * kBlock + blocks_.back().count(); }
  const std::uint8_t* at(const RecordFormat& format, std::uint64_t number) const {
    return blocks_[number / kBlock].at(format, number % kBlock);
  }
  std::vector<Records>& blocks() { return blocks_; }

 private:
  std::vector<Records> blocks_;
};

class Frontier {
 public:
  explicit Frontier(const RecordFormat& format) : format_(format), next_(CompactSet::kParts) {}

  struct Block {
    Records records;
    std::uint64_t first;  // number of its first state, counted from the first state of the search
  };
  // Some blocks of the level, for one thread: about so many states.
  static constexpr std::uint64_t kPiece = 1024;
  struct Piece {
    std::size_t begin, end;
  };

  // A state of the next level, by the thread that has this part.
  void add(std::size_t part, const std::uint8_t* record) { std::memcpy(next_[part].add(format_), record, format_.bytes()); }
  // The next level becomes the present one.
  void advance();

  std::uint64_t size() const { return size_; }
  // The number of the level's first state.
  std::uint64_t first() const { return first_; }
  std::vector<Block>& blocks() { return blocks_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  // About.
  std::uint64_t bytes() const { return (size_ + next_size()) * format_.bytes(); }

 private:
  std::uint64_t next_size() const;

  const RecordFormat& format_;
  std::vector<RecordBlocks> next_;  // for every part
  std::vector<Block> blocks_;
  std::vector<Piece> pieces_;
  std::uint64_t first_ = 0, size_ = 0;
};

}  // namespace memfence
