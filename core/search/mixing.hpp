// A bijection of packed states that makes their first word look random: two states that are close go to places far apart,
// and where a state went tells which it was.
#pragma once

#include "search/state_set.hpp"

namespace memfence {

class Mixing {
 public:
  explicit Mixing(const Layout& layout)
      : words_(layout.words()), bits_(layout.bits_of_word(0)), shift_(bits_ / 2 + 1), mask_(ones(bits_)) {}

  // Bits of a first word, mixed or not.
  unsigned bits() const { return bits_; }

  void mix(Word* state) const { state[0] = scatter(state[0] ^ hash_of_others(state)); }
  void unmix(Word* state) const { state[0] = gather(state[0]) ^ hash_of_others(state); }

 private:
  static constexpr Word kFirst = 0xD6E8FEB86659FD93ull, kSecond = 0x9E3779B97F4A7C15ull;  // odd, so that they have inverses

  static Word ones(unsigned bits) { return bits >= 64 ? ~Word{0} : (Word{1} << bits) - 1; }
  // Modulo 2^64, by Newton: each round doubles the number of bits that are right.
  static constexpr Word inverse(Word odd) {
    Word found = odd;
    for (int round = 0; round < 6; ++round) found *= 2 - odd * found;
    return found;
  }

  Word hash_of_others(const Word* state) const { return words_ == 1 ? 0 : hash_words(state + 1, words_ - 1) & mask_; }
  // The shift is more than half of the bits: doing it again undoes it.
  Word scatter(Word x) const {
    x ^= x >> shift_;
    x = (x * kFirst) & mask_;
    x ^= x >> shift_;
    x = (x * kSecond) & mask_;
    return x ^ (x >> shift_);
  }
  Word gather(Word x) const {
    x ^= x >> shift_;
    x = (x * inverse(kSecond)) & mask_;
    x ^= x >> shift_;
    x = (x * inverse(kFirst)) & mask_;
    return x ^ (x >> shift_);
  }

  std::size_t words_;
  unsigned bits_, shift_;
  Word mask_;
};

}  // namespace memfence
