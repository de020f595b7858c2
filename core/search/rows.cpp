#include "search/rows.hpp"

#include <algorithm>
#include <bit>

#include "search/sorting.hpp"

namespace memfence {

namespace {

// Sort keys of `Words` words, and keep one of those that are the same.
template <std::size_t Words>
void sort_and_unite(std::vector<std::uint64_t>& keys, const std::vector<int>& bits) {
  std::array<int, Words> used{};
  std::copy(bits.begin(), bits.end(), used.begin());
  auto* const first = reinterpret_cast<Key<Words>*>(keys.data());
  const std::span all(first, keys.size() / Words);
  KeySorter<Words>(used).sort(all);
  const auto count = static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
  keys.resize(count * Words);
}

}  // namespace

SortedRows::SortedRows(const Exploration& exploration, std::vector<RowColumn> columns, RowClasses classes)
    : columns_(std::move(columns)), classes_(std::move(classes)), parts_(columns_.size()) {
  for (const RowColumn& column : columns_) width_ += static_cast<std::size_t>(column.width);
  find_varying(exploration);
  const std::vector<int> bits = place_parts();
  fill(exploration);
  switch (words_) {
    case 1: sort_and_unite<1>(keys_, bits); break;
    case 2: sort_and_unite<2>(keys_, bits); break;
    case 4: sort_and_unite<4>(keys_, bits); break;
    case 16: sort_and_unite<16>(keys_, bits); break;
    default: sort_and_unite<kMostWords>(keys_, bits); break;
  }
}

// Which bits of each column differ between states. Columns of processes that may be exchanged are not taken over as they are.
void SortedRows::find_varying(const Exploration& exploration) {
  const Layout& layout = exploration.layout();
  std::vector<char> exchanged(columns_.size(), 0);
  for (const auto& members : classes_.alike)
    for (const RowMember& member : members)
      for (const std::size_t n : member.columns) exchanged.at(n) = 1;
  if (!classes_.alike.empty() && classes_.lock_column >= 0) exchanged.at(static_cast<std::size_t>(classes_.lock_column)) = 1;
  std::vector<std::size_t> others;
  for (std::size_t n = 0; n < columns_.size(); ++n) {
    const RowColumn& column = columns_[n];
    Part& part = parts_[n];
    part.field = layout.field(column.slot);
    part.offset = part.field.lo - static_cast<std::uint64_t>(column.lo);
    part.is_plain = part.offset == 0 && column.length_slot < 0 && column.mark_slot < 0 && !exchanged[n];
    if (!part.is_plain) others.push_back(n);
  }
  std::vector<Word> first(layout.words(), 0), varying(layout.words(), 0);
  exploration.for_each([&](const Word* state) {
    if (states_++ == 0) std::copy_n(state, first.size(), first.begin());
    for (std::size_t word = 0; word < first.size(); ++word) varying[word] |= state[word] ^ first[word];
    for (const std::size_t n : others) parts_[n].mask |= number(n, layout, state);
  });
  exchange_varying();
  for (Part& part : parts_) {
    const Layout::Field& field = part.field;
    if (part.is_plain) part.mask = varying[field.word] >> field.shift & field.mask;
    if (part.mask != 0) part.mask = ~std::uint64_t{0} >> std::countl_zero(part.mask);
    if (part.is_plain) part.fixed = (first[field.word] >> field.shift & field.mask) & ~part.mask;
  }
}

// Whatever a process of a class has, each of them may have.
void SortedRows::exchange_varying() {
  for (const auto& members : classes_.alike) {
    for (std::size_t n = 0; n < members.front().columns.size(); ++n) {
      std::uint64_t mask = 0;
      for (const RowMember& member : members) mask |= parts_[member.columns.at(n)].mask;
      for (const RowMember& member : members) parts_[member.columns[n]].mask = mask;
    }
    for (const RowMember& member : members)
      if (classes_.lock_column >= 0) parts_[static_cast<std::size_t>(classes_.lock_column)].mask |= member.owner;
  }
}

// Columns in their order, the first with the highest bits; none crosses a word of the key. How many bits of each word are used.
std::vector<int> SortedRows::place_parts() {
  std::vector<int> bits{0};
  for (Part& part : parts_) {
    const int need = std::popcount(part.mask);
    if (bits.back() + need > 64) bits.push_back(0);
    part.word = bits.size() - 1;
    bits.back() += need;
  }
  std::vector<int> left = bits;
  for (Part& part : parts_)
    if (part.mask != 0) part.shift = left[part.word] -= std::popcount(part.mask);
  for (const std::size_t words : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{16}, kMostWords})
    if (words_ == 0 && bits.size() <= words) words_ = words;
  return bits;
}

std::uint64_t SortedRows::number(std::size_t n, const Layout& layout, const Word* state) const {
  const RowColumn& column = columns_[n];
  if (column.length_slot >= 0 && column.position >= layout.read(state, column.length_slot)) return 0;
  const Layout::Field& field = parts_[n].field;
  if (column.mark_slot >= 0 && layout.read(state, column.mark_slot) != 0) return column.code;
  return (state[field.word] >> field.shift & field.mask) + parts_[n].offset;
}

void SortedRows::fill(const Exploration& exploration) {
  struct Move {
    std::uint32_t from, to;
    int right, left;
    std::uint64_t mask;
  };
  std::vector<Move> moves;
  std::vector<std::size_t> others;
  std::vector<std::uint64_t> row(columns_.size(), 0);
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    const Part& part = parts_[n];
    if (part.mask != 0 && part.is_plain)
      moves.push_back(
          {part.field.word, static_cast<std::uint32_t>(part.word), static_cast<int>(part.field.shift), part.shift, part.mask});
    else if (part.mask != 0)
      others.push_back(n);
  }
  keys_.resize(states_ * words_);
  std::uint64_t* key = keys_.data();
  exploration.for_each([&](const Word* state) {
    for (const Move& move : moves) key[move.to] |= (state[move.from] >> move.right & move.mask) << move.left;
    for (const std::size_t n : others) row[n] = number(n, exploration.layout(), state);
    put_in_order(row);
    for (const std::size_t n : others) key[parts_[n].word] |= (row[n] & parts_[n].mask) << parts_[n].shift;
    key += words_;
  });
}

// The search has them in some order already, which is often this one.
void SortedRows::put_in_order(std::vector<std::uint64_t>& row) const {
  for (const auto& members : classes_.alike)
    for (std::size_t n = 1; n < members.size(); ++n)
      for (std::size_t at = n; at > 0 && is_less(row, members[at], members[at - 1]); --at)
        exchange(row, members[at], members[at - 1]);
}

bool SortedRows::is_less(const std::vector<std::uint64_t>& row, const RowMember& a, const RowMember& b) const {
  for (std::size_t n = 0; n < a.columns.size(); ++n)
    if (row[a.columns[n]] != row[b.columns[n]]) return row[a.columns[n]] < row[b.columns[n]];
  return classes_.lock_column >= 0 && row[static_cast<std::size_t>(classes_.lock_column)] == b.owner;
}

void SortedRows::exchange(std::vector<std::uint64_t>& row, const RowMember& a, const RowMember& b) const {
  for (std::size_t n = 0; n < a.columns.size(); ++n) std::swap(row[a.columns[n]], row[b.columns[n]]);
  if (classes_.lock_column < 0) return;
  std::uint64_t& owner = row[static_cast<std::size_t>(classes_.lock_column)];
  if (owner == a.owner)
    owner = b.owner;
  else if (owner == b.owner)
    owner = a.owner;
}

std::string SortedRows::block(std::size_t first, std::size_t rows) const {
  const std::size_t count = first < size() ? std::min(rows, size() - first) : 0;
  std::string block(count * width_, '\0');
  char* plane = block.data();
  for (std::size_t n = 0; n < columns_.size(); ++n) {
    const Part& part = parts_[n];
    const std::uint64_t* const keys = keys_.data() + first * words_ + part.word;
    for (int byte = columns_[n].width - 1; byte >= 0; --byte, plane += count)
      for (std::size_t row = 0; row < count; ++row) {
        const std::uint64_t number = part.fixed | (keys[row * words_] >> part.shift & part.mask);
        plane[row] = static_cast<char>(number >> (8 * byte));
      }
  }
  return block;
}

}  // namespace memfence
