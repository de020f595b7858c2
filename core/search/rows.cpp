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

SortedRows::SortedRows(const Exploration& exploration, std::vector<RowColumn> columns)
    : columns_(std::move(columns)), parts_(columns_.size()) {
  for (const RowColumn& column : columns_) width_ += static_cast<std::size_t>(column.width);
  const std::vector<int> bits = find_parts(exploration);
  fill(exploration);
  switch (words_) {
    case 1: sort_and_unite<1>(keys_, bits); break;
    case 2: sort_and_unite<2>(keys_, bits); break;
    case 4: sort_and_unite<4>(keys_, bits); break;
    case 16: sort_and_unite<16>(keys_, bits); break;
    default: sort_and_unite<kMostWords>(keys_, bits); break;
  }
}

// Which bits of each column differ between states; no column crosses a word of the key. How many bits of each word are used.
std::vector<int> SortedRows::find_parts(const Exploration& exploration) {
  std::vector<std::uint64_t> varying(columns_.size(), 0);
  bool is_first = true;
  exploration.for_each([&](const Value* values) {
    for (std::size_t n = 0; n < columns_.size(); ++n) {
      const std::uint64_t number = columns_[n].number(values);
      if (is_first) parts_[n].fixed = number;
      varying[n] |= number ^ parts_[n].fixed;
    }
    is_first = false;
    ++count_;
  });
  std::vector<int> bits{0};
  for (std::size_t n = 0; n < columns_.size(); ++n) {
    const int need = std::bit_width(varying[n]);
    if (bits.back() + need > 64) bits.push_back(0);
    parts_[n].word = bits.size() - 1;
    parts_[n].mask = need == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << need) - 1;
    parts_[n].fixed &= ~parts_[n].mask;
    bits.back() += need;
  }
  std::vector<int> left = bits;  // the first column of a word has its highest bits
  for (Part& part : parts_)
    if (part.mask != 0) part.shift = left[part.word] -= std::bit_width(part.mask);
  for (const std::size_t words : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{16}, kMostWords})
    if (words_ == 0 && bits.size() <= words) words_ = words;
  return bits;
}

void SortedRows::fill(const Exploration& exploration) {
  keys_.reserve(count_ * words_);
  exploration.for_each([&](const Value* values) {
    keys_.resize(keys_.size() + words_);
    std::uint64_t* const key = keys_.data() + keys_.size() - words_;
    for (std::size_t n = 0; n < columns_.size(); ++n)
      key[parts_[n].word] |= (columns_[n].number(values) & parts_[n].mask) << parts_[n].shift;
  });
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
