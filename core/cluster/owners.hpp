// Which partition a state belongs to, and what is on its way there.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "search/state_set.hpp"

namespace memfence {

// The hash is mixed again: its bits choose the place in the owner's table, too, and must not all be alike there.
inline int owner_of(std::uint64_t hash, int count) {
  const std::uint64_t mixed = (hash * 0x9E3779B97F4A7C15ull) >> 32;
  return static_cast<int>((mixed * static_cast<std::uint64_t>(count)) >> 32);
}

// What a message begins with.
struct MessageHead {
  std::uint64_t left;   // states that its sender has not expanded yet
  std::uint64_t count;  // states in it
};

// Calls use(state, note) for each state of a message, whose head is returned.
template <class Note, class Use>
MessageHead each_of(std::string_view message, std::size_t words, Use&& use) {
  MessageHead head;
  std::memcpy(&head, message.data(), sizeof head);
  const char* states = message.data() + sizeof head;
  const char* notes = states + head.count * words * sizeof(Word);
  std::vector<Word> state(words);
  for (std::uint64_t i = 0; i < head.count; ++i) {
    Note note;
    std::memcpy(&note, notes + i * sizeof note, sizeof note);
    std::memcpy(state.data(), states + i * words * sizeof(Word), words * sizeof(Word));
    use(state.data(), note);
  }
  return head;
}

// The states for one owner, with a note on each: the number of its parent, or marks.
template <class Note>
class Outgoing {
 public:
  explicit Outgoing(std::size_t words) : words_(words) {}

  void add(const Word* state, const Note& note) {
    states_.insert(states_.end(), state, state + words_);
    notes_.push_back(note);
  }
  // The same for a state that need not be sent twice, as far as it is among the last ones.
  void add_once(const Word* state, std::uint64_t hash, const Note& note) {
    if (recent_.empty()) {
      recent_.resize(kRecent * words_);
      is_recent_.resize(kRecent);
    }
    const std::size_t place = hash & (kRecent - 1);
    Word* const known = &recent_[place * words_];
    if (is_recent_[place] && are_equal_words(known, state, words_)) return;
    is_recent_[place] = 1;
    copy_words(state, known, words_);
    add(state, note);
  }

  // Of the message.
  std::size_t size() const { return sizeof(MessageHead) + states_.size() * sizeof(Word) + notes_.size() * sizeof(Note); }
  // Writes it, and starts afresh.
  void write(std::uint64_t left, char* out) {
    const MessageHead head{left, notes_.size()};
    std::memcpy(out, &head, sizeof head);
    if (notes_.empty()) return;
    std::memcpy(out + sizeof head, states_.data(), states_.size() * sizeof(Word));
    std::memcpy(out + sizeof head + states_.size() * sizeof(Word), notes_.data(), notes_.size() * sizeof(Note));
    states_.clear();
    notes_.clear();
  }

 private:
  static constexpr std::size_t kRecent = std::size_t{1} << 15;

  std::size_t words_;
  std::vector<Word> states_;
  std::vector<Note> notes_;
  std::vector<Word> recent_;
  std::vector<std::uint8_t> is_recent_;
};

}  // namespace memfence
