// The states of a finished search as sorted rows of bytes: what certificates are made of.
#pragma once

#include <string>
#include <vector>

#include "search/exploration.hpp"

namespace memfence {

// One number of a row: the value of `slot` as its distance from `lo`, in `width` bytes, the highest first. An entry of a
// buffer counts only where `position` is below the length in `length_slot`. Where `mark_slot` is not 0, `code` is written.
struct RowColumn {
  int slot = 0;
  Value lo = 0;
  int width = 1;
  int length_slot = -1;
  int position = 0;
  int mark_slot = -1;
  std::uint64_t code = 0;
};

// A process that may be exchanged with others: the columns of its local part, which match those of the others one by one, and
// what the column of the bus lock says where it holds the bus.
struct RowMember {
  std::vector<std::size_t> columns;
  std::uint64_t owner = 0;
};

// Of each class of `alike`, every row has the local parts in ascending order. `lock_column`: -1 where nobody holds the bus.
struct RowClasses {
  std::vector<std::vector<RowMember>> alike;
  int lock_column = -1;
};

// Every state of the search once, in the order of the byte strings. Of a row only the bits in which it differs from others are
// kept, so that this takes no more room than the states themselves.
class SortedRows {
 public:
  SortedRows(const Exploration& exploration, std::vector<RowColumn> columns, RowClasses classes);

  std::size_t size() const { return keys_.size() / words_; }
  // So many rows, or as many as are left, from `first` on: first the first bytes of all of them, then the second ones, and so
  // on.
  std::string block(std::size_t first, std::size_t rows) const;

 private:
  static constexpr std::size_t kMostWords = 128;  // a row has at most 1024 bytes

  // A column: where its slot stands in packed states, where the bits of it that vary stand in a key, and what its other bits
  // are. `offset`: from what is packed to the number in the row.
  struct Part {
    Layout::Field field;
    std::uint64_t offset = 0;
    bool is_plain = true;  // the number is what is packed
    std::size_t word = 0;
    int shift = 0;
    std::uint64_t mask = 0, fixed = 0;
  };
  void find_varying(const Exploration& exploration);
  void exchange_varying();
  // Sort each class of processes in the numbers of a row.
  void put_in_order(std::vector<std::uint64_t>& row) const;
  bool is_less(const std::vector<std::uint64_t>& row, const RowMember& a, const RowMember& b) const;
  void exchange(std::vector<std::uint64_t>& row, const RowMember& a, const RowMember& b) const;
  std::vector<int> place_parts();
  void fill(const Exploration& exploration);
  std::uint64_t number(std::size_t column, const Layout& layout, const Word* state) const;

  std::vector<RowColumn> columns_;
  RowClasses classes_;
  std::vector<Part> parts_;
  std::size_t width_ = 0, words_ = 0, states_ = 0;
  std::vector<std::uint64_t> keys_;  // `words_` for each row, the first of them with the highest bits
};

}  // namespace memfence
