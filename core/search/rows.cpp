#include "search/rows.hpp"

#include <algorithm>
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

// A row by its first bytes, which decide most comparisons without a look at the row itself.
struct SortedRow {
  std::uint64_t beginning;
  std::size_t number;
};

std::uint64_t beginning_of(const unsigned char* row, std::size_t width) {
  std::uint64_t found = 0;
  for (std::size_t byte = 0; byte < 8; ++byte) found = found << 8 | (byte < width ? row[byte] : 0u);
  return found;
}

}  // namespace

std::vector<std::string> sorted_blocks(const Exploration& exploration, const std::vector<RowColumn>& columns,
                                       std::size_t rows_in_a_block) {
  std::size_t width = 0;
  for (const RowColumn& column : columns) width += static_cast<std::size_t>(column.width);
  if (width == 0) return {};
  std::vector<unsigned char> rows;
  std::vector<SortedRow> order;
  exploration.for_each([&](const Value* values) {
    const std::size_t at = rows.size();
    rows.resize(at + width);
    write_row(rows.data() + at, columns, values);
    order.push_back({beginning_of(rows.data() + at, width), order.size()});
  });
  const std::size_t compared = std::min<std::size_t>(width, 8);
  const auto rest = [&](const SortedRow& r) { return rows.data() + r.number * width + compared; };
  const auto compare = [&](const SortedRow& a, const SortedRow& b) { return std::memcmp(rest(a), rest(b), width - compared); };
  std::sort(order.begin(), order.end(), [&](const SortedRow& a, const SortedRow& b) {
    return a.beginning != b.beginning ? a.beginning < b.beginning : compare(a, b) < 0;
  });
  // States that differ in nothing that is kept between steps are one row.
  order.erase(
      std::unique(order.begin(), order.end(),
                  [&](const SortedRow& a, const SortedRow& b) { return a.beginning == b.beginning && compare(a, b) == 0; }),
      order.end());
  std::vector<std::string> blocks;
  for (std::size_t first = 0; first < order.size(); first += rows_in_a_block) {
    const std::size_t count = std::min(order.size() - first, rows_in_a_block);
    std::string& block = blocks.emplace_back(count * width, '\0');
    for (std::size_t at = 0; at < count; ++at) {
      const unsigned char* row = rows.data() + order[first + at].number * width;
      for (std::size_t byte = 0; byte < width; ++byte) block[byte * count + at] = static_cast<char>(row[byte]);
    }
  }
  return blocks;
}

}  // namespace memfence
