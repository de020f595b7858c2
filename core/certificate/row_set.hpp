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
  const unsigned char* row(std::size_t number) const {
    return pieces_[number >> kPieceBits].data() + (number & (kPiece - 1)) * width_;
  }
  std::size_t bytes() const { return pieces_.size() * kPiece * width_ + table_.capacity() * sizeof(std::uint32_t); }

  // Append a row; false if it is not behind all others in the order of byte strings. So no row comes twice.
  bool append(const unsigned char* row) {
    if (size_ > 0 && std::memcmp(row, this->row(size_ - 1), width_) <= 0) return false;
    if ((size_ & (kPiece - 1)) == 0) pieces_.emplace_back().reserve(kPiece * width_);
    pieces_.back().insert(pieces_.back().end(), row, row + width_);
    ++size_;
    return true;
  }
  // Make the table, once all rows are there.
  void index() {
    table_.assign(size_ + size_ / 2 + 16, 0);
    for (std::size_t number = 0; number < size_; ++number) {
      std::size_t at = place_of(row(number));
      while (table_[at] != 0) at = after(at);
      table_[at] = static_cast<std::uint32_t>(number + 1);
    }
  }
  bool contains(const unsigned char* row) const { return find(row) < size_; }
  // The number of a row; `size()` if it is not in the set.
  std::size_t find(const unsigned char* row) const {
    for (std::size_t at = place_of(row); table_[at] != 0; at = after(at))
      if (std::memcmp(this->row(table_[at] - 1), row, width_) == 0) return table_[at] - 1;
    return size_;
  }

 private:
  // Rows stand in pieces, so that a set that grows is never copied.
  static constexpr int kPieceBits = 12;
  static constexpr std::size_t kPiece = std::size_t{1} << kPieceBits;

  std::size_t place_of(const unsigned char* row) const {
    return static_cast<std::size_t>(static_cast<unsigned __int128>(hash(row)) * table_.size() >> 64);
  }
  std::size_t after(std::size_t at) const { return at + 1 == table_.size() ? 0 : at + 1; }

  std::uint64_t hash(const unsigned char* row) const {
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
    return (h ^ (h >> 29)) * 0x9FB21C651E98DF25ull;  // places are told by the highest bits
  }

  std::size_t width_, size_ = 0;
  std::vector<std::vector<unsigned char>> pieces_;
  std::vector<std::uint32_t> table_;
};

}  // namespace memfence::certificate
