// Sorting keys of one or more 64-bit words in place: by digits from the highest on where there are many keys, and by
// comparison where few are left.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace memfence {

template <std::size_t Words>
using Key = std::array<std::uint64_t, Words>;

// The top `bits` bits of a key, from bit `from` (counted from the highest of the first word on); none crosses a word.
template <std::size_t Words>
class KeySorter {
 public:
  // `bits`: how many bits of each word, from the lowest on, are in use.
  explicit KeySorter(const std::array<int, Words>& bits) : bits_(bits) {}

  void sort(std::span<Key<Words>> keys) const { sort(keys, 0, bits_[0]); }

 private:
  static constexpr int kDigit = 8;
  static constexpr std::size_t kFew = 64;

  // Keys that are the same above the lowest `left` bits of word number `word`.
  void sort(std::span<Key<Words>> keys, std::size_t word, int left) const {
    while (left == 0) {
      if (++word == Words) return;
      left = bits_[word];
    }
    if (keys.size() <= kFew) {
      std::sort(keys.begin(), keys.end());
      return;
    }
    const int shift = std::max(0, left - kDigit);
    std::array<std::size_t, (1u << kDigit) + 1> ends{};
    const auto digit = [&](const Key<Words>& key) { return key[word] >> shift & ((1u << kDigit) - 1); };
    for (const Key<Words>& key : keys) ++ends[digit(key) + 1];
    for (std::size_t n = 1; n < ends.size(); ++n) ends[n] += ends[n - 1];
    std::array<std::size_t, (1u << kDigit)> next{};
    std::copy_n(ends.begin(), next.size(), next.begin());
    for (std::size_t n = 0; n < next.size(); ++n) {
      while (next[n] < ends[n + 1]) {
        Key<Words> key = keys[next[n]];
        for (std::size_t home = digit(key); home != n; home = digit(key)) std::swap(key, keys[next[home]++]);
        keys[next[n]++] = key;
      }
    }
    for (std::size_t n = 0; n < next.size(); ++n) sort(keys.subspan(ends[n], ends[n + 1] - ends[n]), word, shift);
  }

  std::array<int, Words> bits_;
};

}  // namespace memfence
