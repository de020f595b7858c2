// The states of a finished search as sorted rows of bytes, block by block: what certificates are made of.
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
};

// Every state of the search once, in the order of the byte strings, in blocks of so many rows. Of a block first come the
// first bytes of all rows, then the second ones, and so on.
std::vector<std::string> sorted_blocks(const Exploration& exploration, const std::vector<RowColumn>& columns,
                                       std::size_t rows_in_a_block);

}  // namespace memfence
