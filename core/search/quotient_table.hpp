// A set of numbers below 2^bits, each with `rest` further bytes, that stores only what the place of an entry does not tell.
//
// A number y has its home in bucket y mod M of the M buckets, so an entry needs no more than y div M: its *quotient* (Cleary
// 1984). Where the home is full, the entry goes to the next bucket with room, and counts by how many buckets it was moved:
// home, and with it y, can be read off again. So the set is exact: nothing is hashed away. An entry is the quotient and the
// count (+ 1, so that 0 means empty) in as many bytes as they need, then the rest.
//
// The numbers must be well mixed. One thread at a time; other threads may work on other tables meanwhile, which is why tables
// share no cache line.
#pragma once

#include <bit>
#include <cstring>

#include "machine/own_lines.hpp"
#include "search/zeroed_memory.hpp"

namespace memfence {

class alignas(kCacheLine) QuotientTable {
 public:
  QuotientTable(unsigned bits, std::size_t rest) : bits_(bits), rest_(rest) { shape(kFewestBuckets); }

  std::uint64_t count() const { return count_; }
  std::uint64_t bytes() const { return memory_.bytes(); }

  void prefetch(std::uint64_t number) const {
    const std::uint8_t* const bucket = memory_.data() + (number - quotient(number) * buckets_) * bucket_bytes_;
    __builtin_prefetch(bucket);
    __builtin_prefetch(bucket + 64);
  }

  // Whether it was not there. `rest` has that many bytes.
  bool insert(std::uint64_t number, const std::uint8_t* rest) {
    for (;;) {
      switch (place(number, rest)) {
        case Placed::New:
          if (++count_ * kLoad.of > buckets_ * kBucket * kLoad.part) grow();
          return true;
        case Placed::Known: return false;
        case Placed::NoRoom: grow();
      }
    }
  }

  // Calls use(number, rest) for every member.
  template <class Use>
  void for_each(Use&& use) const {
    for (std::uint64_t bucket = 0; bucket < buckets_; ++bucket)
      for (std::size_t i = 0; i < kBucket; ++i) {
        const std::uint8_t* const entry = memory_.data() + bucket * bucket_bytes_ + i * entry_;
        const std::uint64_t first = read(entry);
        if (first == 0) break;
        const std::uint64_t moved = (first & kMovedMask) - 1;
        const std::uint64_t home = bucket >= moved ? bucket - moved : bucket + buckets_ - moved;
        use((first >> kMovedBits) * buckets_ + home, entry + first_);
      }
  }

 private:
  static constexpr std::size_t kBucket = 8;  // entries in a bucket, filled from the first on
  static constexpr unsigned kMovedBits = 5;
  static constexpr std::uint64_t kMovedMask = (1u << kMovedBits) - 1, kMostMoved = kMovedMask - 1;
  static constexpr std::uint64_t kFewestBuckets = 2 * (kMostMoved + 1);  // so that no bucket is tried twice
  static constexpr std::size_t kReadAhead = 64;                          // the last entry may be read as a whole word
  struct Fraction {
    std::uint64_t part, of;
  };
  static constexpr Fraction kLoad{17, 20};  // of the entries used, before the table grows,
  static constexpr Fraction kGrowth{5, 4};  // to so many times its size

  enum class Placed { New, Known, NoRoom };

  std::uint64_t quotient(std::uint64_t number) const {
    const auto guess = static_cast<std::uint64_t>((static_cast<unsigned __int128>(number) * reciprocal_) >> 64);
    return guess + (number - guess * buckets_ >= buckets_);  // the reciprocal was rounded down
  }
  std::uint64_t read(const std::uint8_t* entry) const {
    std::uint64_t word;
    std::memcpy(&word, entry, sizeof word);
    return word & first_mask_;
  }

  static std::size_t index_of(unsigned lowest_bit) { return static_cast<std::size_t>(std::countr_zero(lowest_bit)); }

  Placed place(std::uint64_t number, const std::uint8_t* rest) {
    const std::uint64_t q = quotient(number);
    std::uint64_t bucket = number - q * buckets_;
    std::uint64_t wanted = q << kMovedBits;
    for (std::uint64_t moved = 0; moved <= kMostMoved; ++moved) {
      ++wanted;
      std::uint8_t* const entries = memory_.data() + bucket * bucket_bytes_;
      // All entries, without a branch that depends on what they are: nobody can predict those.
      unsigned equal = 0, empty = 0;
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kBucket; ++i) {
        const std::uint64_t first = read(entries + i * entry_);
        equal |= static_cast<unsigned>(first == wanted) << i;
        empty |= static_cast<unsigned>(first == 0) << i;
      }
      for (; equal != 0; equal &= equal - 1)
        if (rest_ == 0 || std::memcmp(entries + index_of(equal) * entry_ + first_, rest, rest_) == 0) return Placed::Known;
      if (empty != 0) {
        std::uint8_t* const entry = entries + index_of(empty) * entry_;
        std::memcpy(entry, &wanted, first_);
        if (rest_ != 0) std::memcpy(entry + first_, rest, rest_);
        return Placed::New;
      }
      if (++bucket == buckets_) bucket = 0;
    }
    return Placed::NoRoom;
  }

  void shape(std::uint64_t buckets) {
    buckets_ = buckets;
    reciprocal_ = ~std::uint64_t{0} / buckets;
    const std::uint64_t largest = bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_) - 1;
    const auto width = static_cast<std::size_t>(std::bit_width(quotient(largest)));
    first_ = (width + kMovedBits + 7) / 8;
    first_mask_ = first_ == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * first_)) - 1;
    entry_ = first_ + rest_;
    bucket_bytes_ = kBucket * entry_;
    memory_ = ZeroedMemory(buckets * bucket_bytes_ + kReadAhead);
  }

  void grow() {
    for (std::uint64_t buckets = larger_than(buckets_);; buckets = larger_than(buckets)) {
      QuotientTable larger(bits_, rest_, buckets);
      if (!enter_all(larger)) continue;
      larger.count_ = count_;
      *this = std::move(larger);
      return;
    }
  }
  static std::uint64_t larger_than(std::uint64_t buckets) { return buckets * kGrowth.part / kGrowth.of + 1; }

  // A few members at a time, so that their new places are in the cache when they come. False: for one there is no room.
  bool enter_all(QuotientTable& larger) const {
    constexpr std::size_t kAhead = 16;
    std::uint64_t numbers[kAhead];
    const std::uint8_t* rests[kAhead];
    std::size_t waiting = 0;
    bool fits = true;
    const auto enter = [&] {
      for (std::size_t i = 0; i < waiting; ++i) fits &= larger.place(numbers[i], rests[i]) != Placed::NoRoom;
      waiting = 0;
    };
    for_each([&](std::uint64_t number, const std::uint8_t* rest) {
      larger.prefetch(number);
      numbers[waiting] = number;
      rests[waiting] = rest;
      if (++waiting == kAhead) enter();
    });
    enter();
    return fits;
  }

  QuotientTable(unsigned bits, std::size_t rest, std::uint64_t buckets) : bits_(bits), rest_(rest) { shape(buckets); }

  unsigned bits_;
  std::size_t rest_;
  std::uint64_t count_ = 0, buckets_ = 0, reciprocal_ = 0;
  std::size_t first_ = 0, entry_ = 0, bucket_bytes_ = 0;
  std::uint64_t first_mask_ = 0;
  ZeroedMemory memory_;
};

}  // namespace memfence
