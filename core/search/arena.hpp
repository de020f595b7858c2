// Where packed states stand, each with its parent, by index.
//
// States live in chunks that never move. A state and its parent stand side by side: whoever looks at the one often needs
// the other.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "machine/own_lines.hpp"
#include "search/outcome.hpp"
#include "search/words.hpp"
#include "search/zeroed_memory.hpp"

namespace memfence {

// A parent together with some bits of its hash: which of two parents comes first is then mostly known without a look at
// their states.
class Link {
 public:
  Link(Index parent, std::uint64_t hash) : word_(hash >> 32 << 32 | parent) {}
  explicit Link(Word word) : word_(word) {}

  static Link none() { return {kNoIndex, 0}; }
  Index parent() const { return static_cast<Index>(word_); }
  std::uint32_t key() const { return static_cast<std::uint32_t>(word_ >> 32); }
  Word word() const { return word_; }

 private:
  Word word_;
};

class Arena {
 public:
  explicit Arena(std::size_t words) : words_(words), stride_(words + 1) {
    while (chunk_bits_ > kFewestBits && stride_ * sizeof(Word) << chunk_bits_ > kChunkBytes) --chunk_bits_;
    // A directory of fixed size never moves under a reader's feet; untouched pages of it cost nothing.
    chunks_ = static_cast<Word**>(std::calloc((std::size_t{1} << 32) >> chunk_bits_, sizeof(Word*)));
    if (!chunks_) throw std::bad_alloc();
  }
  ~Arena() { std::free(chunks_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::size_t words() const { return words_; }
  Word* state(Index index) const { return chunks_[index >> chunk_bits_] + (index & ((Index{1} << chunk_bits_) - 1)) * stride_; }
  std::atomic_ref<Word> link(Index index) const { return std::atomic_ref<Word>(state(index)[words_]); }

  // Make room for every index below `end`. One thread at a time; others may use what they have meanwhile.
  void reserve(std::uint64_t end) {
    while (std::uint64_t{memory_.size()} << chunk_bits_ < end) {
      memory_.emplace_back(stride_ * sizeof(Word) << chunk_bits_);
      chunks_[memory_.size() - 1] = reinterpret_cast<Word*>(memory_.back().data());
    }
    reserved_.store(end, std::memory_order_relaxed);
  }
  // Of what was reserved.
  std::uint64_t bytes() const { return reserved_.load(std::memory_order_relaxed) * stride_ * sizeof(Word); }

 private:
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 20;  // about
  static constexpr unsigned kMostBits = 16, kFewestBits = 10;

  std::size_t words_, stride_;  // of a state, and of a state with its link
  unsigned chunk_bits_ = kMostBits;
  Word** chunks_;
  alignas(kCacheLine) std::vector<ZeroedMemory> memory_;  // changes while others read what is above
  std::atomic<std::uint64_t> reserved_ = 0;       // indices
};

}  // namespace memfence
