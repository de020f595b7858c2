// The states of a finished search as sorted rows of bytes: what certificates are made of.
#pragma once

#include <string>
#include <vector>

#include "search/exploration.hpp"

namespace memfence {

// One number of a row: the value of `slot` as its distance from `lo`, in `width` bytes, the highest first. An entry of a
// buffer counts only where `position` is below the length in `length_slot`. `special` is written as `code`.
struct RowColumn {
  int slot = 0;
  Value lo = 0;
  int width = 1;
  int length_slot = -1;
  int position = 0;
  bool has_special = false;
  Value special = 0;
  std::uint64_t code = 0;

  std::uint64_t number(const Value* values) const {
    if (length_slot >= 0 && position >= values[length_slot]) return 0;
    const Value value = values[slot];
    return has_special && value == special ? code : static_cast<std::uint64_t>(Wide{value} - lo);
  }
};

// Every state of the search once, in the order of the byte strings. Of a row only the bits in which it differs from others are
// kept, so that this takes no more room than the states themselves.
class SortedRows {
 public:
  SortedRows(const Exploration& exploration, std::vector<RowColumn> columns);

  std::size_t size() const { return keys_.size() / words_; }
  // So many rows, or as many as are left, from `first` on: first the first bytes of all of them, then the second ones, and so
  // on.
  std::string block(std::size_t first, std::size_t rows) const;

 private:
  // Where the varying bits of a column stand in a key, and what its other bits are.
  struct Part {
    std::size_t word = 0;
    int shift = 0;
    std::uint64_t mask = 0, fixed = 0;
  };
  static constexpr std::size_t kMostWords = 128;  // a row has at most 1024 bytes
  std::vector<int> find_parts(const Exploration& exploration);
  void fill(const Exploration& exploration);

  std::vector<RowColumn> columns_;
  std::vector<Part> parts_;
  std::size_t width_ = 0, words_ = 0, count_ = 0;
  std::vector<std::uint64_t> keys_;  // `words_` for each row, the first of them with the highest bits
};

}  // namespace memfence
