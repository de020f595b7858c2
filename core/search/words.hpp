// Packed states as plain words: hashed, copied, compared.
#pragma once

#include <cstdint>
#include <cstring>

#include "machine/layout.hpp"

namespace memfence {

inline constexpr std::size_t kFewWords = 8;

inline std::uint64_t hash_words(const Word* words, std::size_t count) {
  std::uint64_t h = 0x9E3779B97F4A7C15ull;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned __int128 product = static_cast<unsigned __int128>(words[i] ^ h) * 0xD6E8FEB86659FD93ull;
    h = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^ (h << 7);
  }
  h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93ull;
  return h ^ (h >> 29);
}

// Most states are few words: then neither needs a call.
inline void copy_words(const Word* from, Word* to, std::size_t count) {
  if (count > kFewWords) {
    std::memcpy(to, from, count * sizeof(Word));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}
inline bool are_equal_words(const Word* a, const Word* b, std::size_t count) {
  if (count > kFewWords) return std::memcmp(a, b, count * sizeof(Word)) == 0;
  Word difference = 0;
  for (std::size_t i = 0; i < count; ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

}  // namespace memfence
