#include "search/rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace memfence {

namespace {

std::uint64_t number_of(const RowColumn& column, const Value* values) {
  if (column.length_slot >= 0 && column.position >= values[column.length_slot]) return 0;
  const Value value = values[column.slot];
  if (column.has_special && value == column.special) return column.code;
  return static_cast<std::uint64_t>(Wide{value} - column.lo);
}

void write_row(unsigned char* row, const std::vector<RowColumn>& columns, const Value* values) {
  for (const RowColumn& column : columns) {
    const std::uint64_t number = number_of(column, values);
    for (int byte = column.width - 1; byte >= 0; --byte) *row++ = static_cast<unsigned char>(number >> (8 * byte));
  }
}

// Rows by the bits in which they differ at all, in order: the same order, and mostly 64 bits are enough.
class Packing {
 public:
  Packing(const std::vector<unsigned char>& rows, std::size_t width) : parts_(width) {
    const unsigned char* first = rows.data();
    std::vector<unsigned> varying(width, 0);
    for (std::size_t at = 0; at < rows.size(); at += width)
      for (std::size_t byte = 0; byte < width; ++byte) varying[byte] |= rows[at + byte] ^ first[byte];
    for (std::size_t byte = 0; byte < width; ++byte) {
      Part& part = parts_[byte];
      for (int bit = 7; bit >= 0; --bit)
        if (varying[byte] >> bit & 1) part.bits[part.count++] = bit;
      bits_ += part.count;
      for (unsigned value = 0; value < 256; ++value)
        for (int n = 0; n < part.count; ++n)
          part.packed[value] = static_cast<unsigned char>(part.packed[value] << 1 | (value >> part.bits[n] & 1));
      for (unsigned value = 0; value < 256; ++value)
        if ((value & ~varying[byte]) == (first[byte] & ~varying[byte]))
          part.unpacked[part.packed[value]] = static_cast<unsigned char>(value);
    }
  }

  int bits() const { return bits_; }
  std::uint64_t pack(const unsigned char* row) const {
    std::uint64_t key = 0;
    for (std::size_t byte = 0; byte < parts_.size(); ++byte) key = key << parts_[byte].count | parts_[byte].packed[row[byte]];
    return key;
  }
  void unpack(std::uint64_t key, unsigned char* row) const {
    for (std::size_t byte = parts_.size(); byte-- > 0;) {
      const Part& part = parts_[byte];
      row[byte] = part.unpacked[key & ((1u << part.count) - 1)];
      key >>= part.count;
    }
  }

 private:
  struct Part {
    int count = 0;
    std::array<int, 8> bits{};
    std::array<unsigned char, 256> packed{}, unpacked{};
  };
  std::vector<Part> parts_;
  int bits_ = 0;
};

constexpr int kDigit = 11;

// Ascending, digit by digit from the lowest on.
void sort_keys(std::vector<std::uint64_t>& keys, int bits) {
  std::vector<std::uint64_t> other(keys.size());
  for (int shift = 0; shift < bits; shift += kDigit) {
    std::array<std::size_t, (1u << kDigit) + 1> starts{};
    const auto digit = [&](std::uint64_t key) { return key >> shift & ((1u << kDigit) - 1); };
    for (const std::uint64_t key : keys) ++starts[digit(key) + 1];
    for (std::size_t n = 1; n < starts.size(); ++n) starts[n] += starts[n - 1];
    for (const std::uint64_t key : keys) other[starts[digit(key)]++] = key;
    keys.swap(other);
  }
}

// The rows in ascending order, each once: states that differ in nothing that is kept between steps are one row.
std::vector<unsigned char> in_order(const std::vector<unsigned char>& rows, std::size_t width) {
  const Packing packing(rows, width);
  const std::size_t count = rows.size() / width;
  std::vector<unsigned char> out;
  if (packing.bits() <= 64) {
    std::vector<std::uint64_t> keys(count);
    for (std::size_t n = 0; n < count; ++n) keys[n] = packing.pack(rows.data() + n * width);
    sort_keys(keys, packing.bits());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    out.resize(keys.size() * width);
    for (std::size_t n = 0; n < keys.size(); ++n) packing.unpack(keys[n], out.data() + n * width);
    return out;
  }
  std::vector<const unsigned char*> order(count);
  for (std::size_t n = 0; n < count; ++n) order[n] = rows.data() + n * width;
  const auto compared = [width](const unsigned char* a, const unsigned char* b) { return std::memcmp(a, b, width); };
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return compared(a, b) < 0; });
  order.erase(std::unique(order.begin(), order.end(), [&](const auto* a, const auto* b) { return compared(a, b) == 0; }),
              order.end());
  for (const unsigned char* row : order) out.insert(out.end(), row, row + width);
  return out;
}

}  // namespace

std::vector<std::string> sorted_blocks(const Exploration& exploration, const std::vector<RowColumn>& columns,
                                       std::size_t rows_in_a_block) {
  std::size_t width = 0;
  for (const RowColumn& column : columns) width += static_cast<std::size_t>(column.width);
  if (width == 0) return {};
  std::vector<unsigned char> rows;
  exploration.for_each([&](const Value* values) {
    const std::size_t at = rows.size();
    rows.resize(at + width);
    write_row(rows.data() + at, columns, values);
  });
  if (rows.empty()) return {};
  rows = in_order(rows, width);
  std::vector<std::string> blocks;
  for (std::size_t first = 0; first < rows.size(); first += rows_in_a_block * width) {
    const std::size_t count = std::min((rows.size() - first) / width, rows_in_a_block);
    std::string& block = blocks.emplace_back(count * width, '\0');
    for (std::size_t at = 0; at < count; ++at)
      for (std::size_t byte = 0; byte < width; ++byte)
        block[byte * count + at] = static_cast<char>(rows[first + at * width + byte]);
  }
  return blocks;
}

}  // namespace memfence
