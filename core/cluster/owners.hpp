// Which partition a state belongs to, and what is on its way there.
#pragma once

#include <cstring>

#include "search/state_set.hpp"

namespace memfence {

// The hash is mixed again: its bits choose the place in the owner's table, too, and must not all be alike there.
inline int owner_of(std::uint64_t hash, int count) {
  const std::uint64_t mixed = (hash * 0x9E3779B97F4A7C15ull) >> 32;
  return static_cast<int>((mixed * static_cast<std::uint64_t>(count)) >> 32);
}

// The states for one owner, with the numbers of their parents. A state that was among the last ones is not sent again.
class Outgoing {
 public:
  explicit Outgoing(std::size_t words) : words_(words) {}

  void add(const Word* state, std::uint64_t hash, Index parent) {
    if (recent_.empty()) {
      recent_.resize(kRecent * words_);
      is_recent_.resize(kRecent);
    }
    const std::size_t place = hash & (kRecent - 1);
    Word* const known = &recent_[place * words_];
    if (is_recent_[place] && are_equal_words(known, state, words_)) return;
    is_recent_[place] = 1;
    copy_words(state, known, words_);
    states_.insert(states_.end(), state, state + words_);
    parents_.push_back(parent);
  }

  std::uint64_t count() const { return parents_.size(); }
  std::size_t size() const { return states_.size() * sizeof(Word) + parents_.size() * sizeof(Index); }
  // Writes size() bytes, and starts afresh.
  void write(char* out) {
    if (parents_.empty()) return;
    std::memcpy(out, states_.data(), states_.size() * sizeof(Word));
    std::memcpy(out + states_.size() * sizeof(Word), parents_.data(), parents_.size() * sizeof(Index));
    states_.clear();
    parents_.clear();
  }

 private:
  static constexpr std::size_t kRecent = std::size_t{1} << 15;

  std::size_t words_;
  std::vector<Word> states_;
  std::vector<Index> parents_;
  std::vector<Word> recent_;
  std::vector<std::uint8_t> is_recent_;
};

}  // namespace memfence
