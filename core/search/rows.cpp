#include "search/rows.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace memfence {

namespace {

std::uint64_t number_of(const RowColumn& column, const Value* values) {
  if (column.length_slot >= 0 && column.position >= values[column.length_slot]) return 0;
  const Value value = values[column.slot];
  if (column.has_special && value == column.special) return column.code;
  return static_cast<std::uint64_t>(Wide{value} - column.lo);
}

void append_row(std::string& rows, const std::vector<RowColumn>& columns, const Value* values) {
  for (const RowColumn& column : columns) {
    const std::uint64_t number = number_of(column, values);
    for (int byte = column.width - 1; byte >= 0; --byte) rows.push_back(static_cast<char>(number >> (8 * byte)));
  }
}

}  // namespace

std::vector<std::string> sorted_blocks(const Exploration& exploration, const std::vector<RowColumn>& columns,
                                       std::size_t rows_in_a_block) {
  std::size_t width = 0;
  for (const RowColumn& column : columns) width += static_cast<std::size_t>(column.width);
  std::string rows;
  exploration.for_each([&](const Value* values) { append_row(rows, columns, values); });
  std::vector<std::size_t> order(width == 0 ? 0 : rows.size() / width);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto row = [&](std::size_t number) { return rows.data() + number * width; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return std::memcmp(row(a), row(b), width) < 0; });
  // States that differ in nothing that is kept between steps are one row.
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::size_t a, std::size_t b) { return std::memcmp(row(a), row(b), width) == 0; }),
              order.end());
  std::vector<std::string> blocks;
  for (std::size_t first = 0; first < order.size(); first += rows_in_a_block) {
    const std::size_t last = std::min(order.size(), first + rows_in_a_block);
    std::string& block = blocks.emplace_back();
    block.reserve((last - first) * width);
    for (std::size_t byte = 0; byte < width; ++byte)
      for (std::size_t at = first; at < last; ++at) block.push_back(row(order[at])[byte]);
  }
  return blocks;
}

}  // namespace memfence
