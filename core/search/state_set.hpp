// The set of visited states: open addressing over an arena of packed states.
//
// A table entry is 64 bits: 32 bits of hash and 32 bits of index + 1 (0 = empty), so that a look-up reads the arena only for
// a probable hit. The place of an entry is given by the first of its hash bits. So a table of twice the size has the entries
// in the same order: growing reads the old table and writes the new one from the first to the last, and no state at all.
//
// A state and its parent stand side by side, in chunks that never move; the index of a state is its age, so a breadth-first
// frontier is simply a range of indices. Insertion is lock-free: the state is written to the arena first and published by
// one compare-and-swap; whoever loses the race looks again at what won. The table grows only while no thread inserts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "search/arena.hpp"

namespace memfence {

class StateSet : public StateOrder {
 public:
  explicit StateSet(std::size_t words, unsigned table_bits = 16)
      : arena_(words), bits_(table_bits), table_(make_table(table_bits)) {}

  std::size_t words() const { return arena_.words(); }
  const Word* state(Index index) const { return arena_.state(index); }
  Index parent(Index index) const { return Link(arena_.link(index).load(std::memory_order_relaxed)).parent(); }

  // An order of states that depends on nothing but the states.
  bool is_less(Index a, Index b) const final { return std::memcmp(state(a), state(b), words() * sizeof(Word)) < 0; }

  // To be called in this order, each some time before the next, ending with insert(): so nobody waits for memory.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&entries()[home(hash)]); }
  void prefetch_state(std::uint64_t hash) const {
    const std::uint64_t entry = entries()[home(hash)].load(std::memory_order_acquire);
    if (entry != 0 && have_equal_hashes(entry, hash)) __builtin_prefetch(arena_.state(index_in(entry)));
  }

  struct Inserted {
    Index index;
    bool is_new;
  };

  // Insert `state`; a new one takes the index `place`, whose chunk must exist (see reserve).
  Inserted insert(const Word* state, std::uint64_t hash, Link parent, Index place) {
    Entry* const table = entries();
    std::uint64_t fresh = 0;
    for (std::size_t at = home(hash);; at = next(at)) {
      std::uint64_t entry = table[at].load(std::memory_order_acquire);
      if (entry == 0) {
        if (fresh == 0) {
          copy_words(state, arena_.state(place), words());
          arena_.link(place).store(parent.word(), std::memory_order_relaxed);
          fresh = (hash >> 32 << 32) | (std::uint64_t{place} + 1);
        }
        if (table[at].compare_exchange_strong(entry, fresh, std::memory_order_acq_rel)) return {place, true};
      }
      if (is_of(entry, state, hash)) return {index_in(entry), false};
    }
  }

  Index find(const Word* state, std::uint64_t hash) const {
    for (std::size_t at = home(hash);; at = next(at)) {
      const std::uint64_t entry = entries()[at].load(std::memory_order_acquire);
      if (entry == 0) return kNoIndex;
      if (is_of(entry, state, hash)) return index_in(entry);
    }
  }

  // Keep the first of the parents, by their hashes and then by their states: the choice depends on the state graph alone,
  // not on threads.
  void prefer_parent(Index index, Link parent) {
    const auto place = arena_.link(index);
    Word present = place.load(std::memory_order_relaxed);
    while (comes_before(parent, Link(present)))
      if (place.compare_exchange_weak(present, parent.word(), std::memory_order_relaxed)) return;
  }

  // Make room in the arena for every index below `end`. One thread at a time; others may insert meanwhile.
  void reserve(std::uint64_t end) { arena_.reserve(end); }

  std::size_t capacity() const { return std::size_t{1} << bits_; }
  bool can_grow() const { return bits_ < kMostBits; }
  std::uint64_t bytes_to_grow() const { return 2 * capacity() * sizeof(Entry); }
  // Double the table, on one thread.
  void grow() {
    begin_to_grow();
    move_entries(0, capacity() / 2);
    end_growing();
  }
  // The same in three parts. While nobody is here, the new table is made; all parts of the old one are moved, by as many
  // threads as there are; while nobody is here, the old one goes.
  void begin_to_grow() {
    old_table_ = std::move(table_);
    table_ = make_table(++bits_);
  }
  void move_entries(std::size_t begin, std::size_t end) {
    constexpr std::size_t kSlice = std::size_t{1} << 18;  // of the old table, given back at a time: the new one needs room
    for (std::size_t slice = begin; slice < end; slice += kSlice) {
      const std::size_t slice_end = std::min(end, slice + kSlice);
      for (std::size_t i = slice; i < slice_end; ++i) move_entry(reinterpret_cast<const Entry*>(old_table_.data())[i]);
      old_table_.release(slice * sizeof(Entry), slice_end * sizeof(Entry));
    }
  }
  void end_growing() { old_table_ = ZeroedMemory(); }

  std::uint64_t bytes() const { return arena_.bytes() + capacity() * sizeof(Entry); }

 private:
  using Entry = std::atomic<std::uint64_t>;
  static_assert(sizeof(Entry) == sizeof(std::uint64_t) && std::is_trivially_destructible_v<Entry>);

  static constexpr unsigned kMostBits = 32;  // of a hash, in a table entry

  static ZeroedMemory make_table(unsigned bits) { return ZeroedMemory((std::size_t{1} << bits) * sizeof(Entry)); }
  Entry* entries() const { return reinterpret_cast<Entry*>(table_.data()); }
  // Of a hash, or of an entry.
  std::size_t home(std::uint64_t hash) const { return static_cast<std::size_t>(hash >> (64 - bits_)); }
  std::size_t next(std::size_t at) const { return (at + 1) & (capacity() - 1); }
  static Index index_in(std::uint64_t entry) { return static_cast<Index>(entry) - 1; }

  void move_entry(const Entry& from) {
    const std::uint64_t entry = from.load(std::memory_order_relaxed);
    if (entry == 0) return;
    std::size_t at = home(entry);
    for (std::uint64_t empty = 0; !entries()[at].compare_exchange_strong(empty, entry, std::memory_order_relaxed); empty = 0)
      at = next(at);
  }

  static bool have_equal_hashes(std::uint64_t a, std::uint64_t b) { return (a ^ b) >> 32 == 0; }
  bool is_of(std::uint64_t entry, const Word* state, std::uint64_t hash) const {
    return have_equal_hashes(entry, hash) && are_equal_words(arena_.state(index_in(entry)), state, words());
  }
  bool comes_before(Link a, Link b) const {
    if (a.key() != b.key()) return a.key() < b.key();
    return a.parent() != b.parent() && is_less(a.parent(), b.parent());
  }

  Arena arena_;
  unsigned bits_;
  ZeroedMemory table_, old_table_;
};

// The same for a search with one thread: indices follow each other, and the table grows by itself.
class CountedStates : private StateSet {
 public:
  explicit CountedStates(std::size_t words) : StateSet(words) {}

  Inserted insert(const Word* state, Index parent = kNoIndex) {
    reserve(count_ + 1);
    const Inserted inserted = StateSet::insert(state, hash_words(state, words()), Link(parent, 0), static_cast<Index>(count_));
    if (inserted.is_new && ++count_ * 2 > capacity() && can_grow()) grow();
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
