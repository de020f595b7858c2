// Sorting keys of one or more 64-bit words: many of them in place, by digits from the highest on; what is left of few bits, by
// digits from the lowest on; few keys by comparison.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace memfence {

template <std::size_t Words>
using Key = std::array<std::uint64_t, Words>;

template <std::size_t Words>
inline bool is_less(const Key<Words>& a, const Key<Words>& b) {
  for (std::size_t word = 0; word + 1 < Words; ++word)
    if (a[word] != b[word]) return a[word] < b[word];
  return a[Words - 1] < b[Words - 1];
}

template <std::size_t Words>
class KeySorter {
 public:
  // `bits`: how many bits of each word, from the lowest on, are in use. The first word is the highest.
  explicit KeySorter(const std::array<int, Words>& bits) : bits_(bits), scratch_(kSome) {}

  void sort(std::span<Key<Words>> keys) { sort(keys, 0, bits_[0]); }

 private:
  static constexpr int kHighDigit = 8, kLowDigit = 11;
  static constexpr std::size_t kFew = 48, kSome = std::size_t{1} << 15;
  static constexpr int kFewBits = 3 * kLowDigit;

  // Keys that are the same above the lowest `left` bits of word number `word`.
  void sort(std::span<Key<Words>> keys, std::size_t word, int left) {
    while (left == 0) {
      if (++word == Words) return;
      left = bits_[word];
    }
    int rest = left;
    for (std::size_t lower = word + 1; lower < Words; ++lower) rest += bits_[lower];
    if (keys.size() <= kFew)
      std::sort(keys.begin(), keys.end(), is_less<Words>);
    else if (keys.size() <= kSome && rest <= kFewBits)
      sort_from_below(keys, word, left);
    else
      sort_from_above(keys, word, left);
  }

  static std::size_t digit(std::uint64_t word, int shift, int bits) { return word >> shift & ((std::uint64_t{1} << bits) - 1); }

  // Every key goes to where those with its highest digit belong, and whoever stands there goes on.
  void sort_from_above(std::span<Key<Words>> keys, std::size_t word, int left) {
    const int shift = std::max(0, left - kHighDigit), bits = left - shift;
    std::array<std::size_t, (1u << kHighDigit) + 1> ends{};
    for (const Key<Words>& key : keys) ++ends[digit(key[word], shift, bits) + 1];
    for (std::size_t n = 1; n < ends.size(); ++n) ends[n] += ends[n - 1];
    std::array<std::size_t, (1u << kHighDigit)> next{};
    std::copy_n(ends.begin(), next.size(), next.begin());
    for (std::size_t n = 0; n < next.size(); ++n)
      while (next[n] < ends[n + 1]) {
        Key<Words> key = keys[next[n]];
        for (std::size_t home = digit(key[word], shift, bits); home != n; home = digit(key[word], shift, bits))
          std::swap(key, keys[next[home]++]);
        keys[next[n]++] = key;
      }
    for (std::size_t n = 0; n < next.size(); ++n) sort(keys.subspan(ends[n], ends[n + 1] - ends[n]), word, shift);
  }

  void sort_from_below(std::span<Key<Words>> keys, std::size_t word, int left) {
    for (std::size_t at = Words; at-- > word;)
      for (int shift = 0, end = at == word ? left : bits_[at]; shift < end; shift += kLowDigit)
        sort_by_digit(keys, at, shift, std::min(kLowDigit, end - shift));
  }
  void sort_by_digit(std::span<Key<Words>> keys, std::size_t word, int shift, int bits) {
    std::array<std::uint32_t, (1u << kLowDigit) + 1> next{};
    for (const Key<Words>& key : keys) ++next[digit(key[word], shift, bits) + 1];
    for (std::size_t n = 1; n <= std::size_t{1} << bits; ++n) next[n] += next[n - 1];
    for (const Key<Words>& key : keys) scratch_[next[digit(key[word], shift, bits)]++] = key;
    std::copy_n(scratch_.begin(), keys.size(), keys.begin());
  }

  std::array<int, Words> bits_;
  std::vector<Key<Words>> scratch_;
};

}  // namespace memfence
