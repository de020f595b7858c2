// The states of a certificate as rows of bytes, one behind the other, with a table to look them up.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace memfence::certificate {

constexpr std::size_t kMostRows = 0xFFFFFFF0u;  // the table has 32 bits for a row

class RowSet {
 public:
  explicit RowSet(std::size_t width) : width_(width) {}

  std::size_t size() const { return size_; }
  const unsigned char* row(std::size_t number) const { return rows_.data() + number * width_; }
  std::size_t bytes() const { return rows_.capacity() + table_.capacity() * sizeof(std::uint32_t); }

  // Append a row; false if it is not behind all others in the order of byte strings. So no row comes twice.
  bool append(const unsigned char* row) {
    if (size_ > 0 && std::memcmp(row, this->row(size_ - 1), width_) <= 0) return false;
    rows_.insert(rows_.end(), row, row + width_);
    ++size_;
    return true;
  }
  // Make the table, once all rows are there.
  void index() {
    std::size_t places = 16;
    while (places < 2 * size_) places *= 2;
    mask_ = places - 1;
    table_.assign(places, 0);
    for (std::size_t number = 0; number < size_; ++number) {
      std::size_t at = hash(row(number)) & mask_;
      while (table_[at] != 0) at = (at + 1) & mask_;
      table_[at] = static_cast<std::uint32_t>(number + 1);
    }
  }
  bool contains(const unsigned char* row) const {
    for (std::size_t at = hash(row) & mask_; table_[at] != 0; at = (at + 1) & mask_)
      if (std::memcmp(this->row(table_[at] - 1), row, width_) == 0) return true;
    return false;
  }

 private:
  std::size_t hash(const unsigned char* row) const {
    std::uint64_t h = 0x2545F4914F6CDD1Dull ^ width_;
    std::size_t n = 0;
    for (; n + 8 <= width_; n += 8) {
      std::uint64_t part = 0;
      std::memcpy(&part, row + n, 8);
      h = (h ^ part) * 0x9FB21C651E98DF25ull;
      h ^= h >> 32;
    }
    std::uint64_t part = 0;
    std::memcpy(&part, row + n, width_ - n);
    h = (h ^ part) * 0x9FB21C651E98DF25ull;
    return static_cast<std::size_t>(h ^ (h >> 29));
  }

  std::size_t width_, size_ = 0, mask_ = 0;
  std::vector<unsigned char> rows_;
  std::vector<std::uint32_t> table_;
};

}  // namespace memfence::certificate
