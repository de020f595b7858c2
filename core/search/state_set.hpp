// The set of visited states: open addressing over an arena of packed states.
//
// A table entry is 64 bits: 40 bits of index + 1 (0 = empty) and 24 bits of hash, so that a look-up reads the arena only
// for a probable hit. States live in chunks that never move; their index is their age, so a breadth-first frontier is
// simply a range of indices. Insertion is lock-free: the state is written to the arena first and published by one
// compare-and-swap; whoever loses the race looks again at what won. The table grows only while no thread inserts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "machine/layout.hpp"
#include "search/outcome.hpp"
#include "search/zeroed_memory.hpp"

namespace memfence {

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

// Most states are one word: then neither needs a call.
inline void copy_words(const Word* from, Word* to, std::size_t count) {
  to[0] = from[0];
  if (count > 1) std::memcpy(to + 1, from + 1, (count - 1) * sizeof(Word));
}
inline bool are_equal_words(const Word* a, const Word* b, std::size_t count) {
  return a[0] == b[0] && (count == 1 || std::memcmp(a + 1, b + 1, (count - 1) * sizeof(Word)) == 0);
}

class StateSet : public StateOrder {
 public:
  explicit StateSet(std::size_t words, unsigned table_bits = 16) : words_(words), mask_((std::size_t{1} << table_bits) - 1) {
    make_table();
    // A directory of fixed size never moves under a reader's feet; untouched pages of it cost nothing.
    chunks_ = static_cast<Word**>(std::calloc(kMostChunks, sizeof(Word*)));
    parents_ = static_cast<std::atomic<Index>**>(std::calloc(kMostChunks, sizeof(std::atomic<Index>*)));
    if (!chunks_ || !parents_) throw std::bad_alloc();
  }
  ~StateSet() {
    for (std::size_t i = 0; i < chunk_count_; ++i) {
      delete[] chunks_[i];
      delete[] parents_[i];
    }
    std::free(chunks_);
    std::free(parents_);
  }
  StateSet(const StateSet&) = delete;
  StateSet& operator=(const StateSet&) = delete;

  std::size_t words() const { return words_; }
  const Word* state(Index index) const { return chunks_[index >> kChunkBits] + (index & kChunkMask) * words_; }
  Index parent(Index index) const { return parents_[index >> kChunkBits][index & kChunkMask].load(std::memory_order_relaxed); }

  // An order of states that depends on nothing but the states.
  bool is_less(Index a, Index b) const final { return std::memcmp(state(a), state(b), words_ * sizeof(Word)) < 0; }

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&table_[hash & mask_]); }

  struct Inserted {
    Index index;
    bool is_new;
  };

  // Insert `state`; a new one takes the index `place`, whose chunk must exist (see reserve).
  Inserted insert(const Word* state, std::uint64_t hash, Index parent, Index place) {
    const std::uint64_t tag = hash & ~kIndexMask;
    std::uint64_t fresh = 0;
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      std::uint64_t entry = table_[at].load(std::memory_order_acquire);
      if (entry == 0) {
        if (fresh == 0) {
          copy_words(state, chunks_[place >> kChunkBits] + (place & kChunkMask) * words_, words_);
          parents_[place >> kChunkBits][place & kChunkMask].store(parent, std::memory_order_relaxed);
          fresh = tag | (std::uint64_t{place} + 1);
        }
        if (table_[at].compare_exchange_strong(entry, fresh, std::memory_order_acq_rel)) return {place, true};
      }
      if ((entry & ~kIndexMask) == tag) {
        const Index index = static_cast<Index>((entry & kIndexMask) - 1);
        if (are_equal_words(this->state(index), state, words_)) return {index, false};
      }
    }
  }

  Index find(const Word* state, std::uint64_t hash) const {
    const std::uint64_t tag = hash & ~kIndexMask;
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const std::uint64_t entry = table_[at].load(std::memory_order_acquire);
      if (entry == 0) return kNoIndex;
      if ((entry & ~kIndexMask) == tag) {
        const Index index = static_cast<Index>((entry & kIndexMask) - 1);
        if (are_equal_words(this->state(index), state, words_)) return index;
      }
    }
  }

  // Keep the parent whose packed state is smallest: the choice then depends on the state graph alone, not on threads.
  void prefer_parent(Index index, Index parent) {
    auto& place = parents_[index >> kChunkBits][index & kChunkMask];
    Index present = place.load(std::memory_order_relaxed);
    while (present != parent && is_less(parent, present))
      if (place.compare_exchange_weak(present, parent, std::memory_order_relaxed)) return;
  }

  // Make room in the arena for every index below `end`. One thread at a time; others may insert meanwhile.
  void reserve(std::uint64_t end) {
    for (; std::uint64_t{chunk_count_} << kChunkBits < end; ++chunk_count_) {
      chunks_[chunk_count_] = new Word[kChunkSize * words_];
      parents_[chunk_count_] = new std::atomic<Index>[kChunkSize];
    }
  }

  std::size_t capacity() const { return mask_ + 1; }
  // Growing has two parts: double the table and empty it, while nobody else is here; then enter all states again. That is
  // most of the work, and several threads may share it.
  void double_table() {
    mask_ = 2 * mask_ + 1;
    make_table();
  }
  // Enter the states from `begin` to `end`, all of them different; `is_used(index)` tells them from the holes.
  template <class IsUsed>
  void enter_again(std::uint64_t begin, std::uint64_t end, IsUsed&& is_used) {
    constexpr std::size_t kAhead = 16;  // hashes known before they are needed, so that their places are in the cache
    std::uint64_t hashes[kAhead], numbers[kAhead];
    for (std::uint64_t index = begin; index < end;) {
      std::size_t count = 0;
      for (; index < end && count < kAhead; ++index) {
        if (!is_used(static_cast<Index>(index))) continue;
        hashes[count] = hash_words(state(static_cast<Index>(index)), words_);
        prefetch(hashes[count]);
        numbers[count++] = index;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t entry = (hashes[i] & ~kIndexMask) | (numbers[i] + 1);
        for (std::size_t at = hashes[i] & mask_;; at = (at + 1) & mask_) {
          std::uint64_t empty = 0;
          if (table_[at].compare_exchange_strong(empty, entry, std::memory_order_relaxed)) break;
        }
      }
    }
  }

  std::uint64_t bytes() const {
    return std::uint64_t{chunk_count_} * kChunkSize * (words_ * sizeof(Word) + sizeof(Index)) +
           (mask_ + 1) * sizeof(std::uint64_t);
  }
  std::uint64_t bytes_to_grow() const { return 2 * (mask_ + 1) * sizeof(std::uint64_t); }

 private:
  void make_table() {
    table_memory_ = ZeroedMemory();  // the old one goes first
    table_memory_ = ZeroedMemory((mask_ + 1) * sizeof(Entry));
    table_ = reinterpret_cast<Entry*>(table_memory_.data());
  }

  static constexpr unsigned kChunkBits = 14;
  static constexpr std::size_t kChunkSize = std::size_t{1} << kChunkBits;
  static constexpr Index kChunkMask = kChunkSize - 1;
  static constexpr std::size_t kMostChunks = (std::size_t{1} << 32) >> kChunkBits;
  static constexpr std::uint64_t kIndexMask = (std::uint64_t{1} << 40) - 1;

  std::size_t words_;
  Word** chunks_;
  std::atomic<Index>** parents_;
  std::size_t chunk_count_ = 0;
  using Entry = std::atomic<std::uint64_t>;
  static_assert(sizeof(Entry) == sizeof(std::uint64_t) && std::is_trivially_destructible_v<Entry>);

  ZeroedMemory table_memory_;
  Entry* table_;
  std::size_t mask_;
};

// The same for a search with one thread: indices follow each other, and the table grows by itself.
class CountedStates : private StateSet {
 public:
  explicit CountedStates(std::size_t words) : StateSet(words) {}

  Inserted insert(const Word* state, Index parent = kNoIndex) {
    reserve(count_ + 1);
    const Inserted inserted = StateSet::insert(state, hash_words(state, words()), parent, static_cast<Index>(count_));
    if (inserted.is_new && ++count_ * 2 > capacity()) {
      double_table();
      enter_again(0, count_, [](Index) { return true; });
    }
    return inserted;
  }
  // kNoIndex: it is not there.
  Index find(const Word* state) const { return StateSet::find(state, hash_words(state, words())); }

  std::uint64_t count() const { return count_; }
  using StateSet::bytes;
  using StateSet::parent;
  using StateSet::state;

 private:
  std::uint64_t count_ = 0;
};

}  // namespace memfence
