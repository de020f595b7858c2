// Rows that are numbered in the order in which they are first seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace memfence::certificate {

class RowTable {
 public:
  explicit RowTable(std::size_t width) : width_(width), table_(16, 0) {}

  std::size_t size() const { return size_; }
  std::string_view row(std::size_t number) const {
    return {reinterpret_cast<const char*>(rows_.data()) + number * width_, width_};
  }
  std::size_t bytes() const { return rows_.capacity() + table_.capacity() * sizeof(std::uint32_t); }

  // The number of a row, which is added if it is new.
  std::uint32_t number_of(const unsigned char* row) {
    const std::string_view wanted(reinterpret_cast<const char*>(row), width_);
    std::size_t at = place_of(wanted);
    if (table_[at] != 0) return table_[at] - 1;
    if (2 * (size_ + 1) > table_.size()) {
      grow();
      at = place_of(wanted);
    }
    rows_.insert(rows_.end(), row, row + width_);
    table_[at] = static_cast<std::uint32_t>(++size_);
    return table_[at] - 1;
  }

 private:
  std::size_t place_of(std::string_view wanted) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = std::hash<std::string_view>()(wanted) & mask;
    while (table_[at] != 0 && row(table_[at] - 1) != wanted) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    table_.assign(2 * table_.size(), 0);
    for (std::size_t number = 0; number < size_; ++number)
      table_[place_of(row(number))] = static_cast<std::uint32_t>(number + 1);
  }

  std::size_t width_, size_ = 0;
  std::vector<unsigned char> rows_;
  std::vector<std::uint32_t> table_;
};

}  // namespace memfence::certificate
