// Successors on their way into the state set: one thread gathers those of a few states, then enters all of them.
//
// Where a successor belongs is somewhere in a lot of memory. Its place in the table is asked for when it is gathered, the
// state that stands there already (if any) some successors before it is entered. So the search hardly waits for memory,
// nor for another thread's cache, where states that were found a moment ago may still be.
#pragma once

#include <vector>

#include "search/levels.hpp"

namespace memfence {

class Batch {
 public:
  explicit Batch(std::size_t words) : words_(words) {}

  bool is_empty() const { return gathered_.empty(); }

  // Where the next successor is to be packed; then add() it.
  Word* room() {
    const std::size_t end = gathered_.size() * words_;
    if (end + words_ > packed_.size()) packed_.resize(2 * packed_.size() + 64 * words_);
    return &packed_[end];
  }
  void add(Link parent, const StateSet& states) {
    const std::uint64_t hash = hash_words(&packed_[gathered_.size() * words_], words_);
    gathered_.push_back({hash, parent});
    states.prefetch(hash);
  }

  // Enter what was gathered, as states of the next level; returns how many were new. Some are left if the table must grow
  // first. With `keep_first`, a state of the next level keeps the parent that comes first (StateSet). Calls use(index) for
  // each that was entered, in the order in which they were added.
  template <class Use>
  std::uint64_t enter(StateSet& states, Levels& levels, Levels::Share& share, bool keep_first, Use&& use) {
    std::uint64_t fresh = 0;
    for (std::size_t i = entered_; i < std::min(gathered_.size(), entered_ + kAhead); ++i)
      states.prefetch_state(gathered_[i].hash);
    for (; entered_ < gathered_.size(); ++entered_) {
      if (entered_ + kAhead < gathered_.size()) states.prefetch_state(gathered_[entered_ + kAhead].hash);
      if (!levels.reserve(share)) return fresh;
      const auto& [hash, parent] = gathered_[entered_];
      const auto [index, is_new] = states.insert(&packed_[entered_ * words_], hash, parent, share.next);
      if (is_new) {
        ++share.next;
        ++fresh;
      } else if (keep_first && levels.is_in_next(index)) {
        states.prefer_parent(index, parent);
      }
      use(index);
    }
    gathered_.clear();
    entered_ = 0;
    return fresh;
  }
  std::uint64_t enter(StateSet& states, Levels& levels, Levels::Share& share, bool keep_first) {
    return enter(states, levels, share, keep_first, [](Index) {});
  }

 private:
  static constexpr std::size_t kAhead = 12;

  struct Gathered {
    std::uint64_t hash;
    Link parent;
  };
  std::size_t words_;
  std::vector<Gathered> gathered_;
  std::vector<Word> packed_;  // their states, one after the other
  std::size_t entered_ = 0;
};

}  // namespace memfence
