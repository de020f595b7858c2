#include "stateless/races.hpp"

#include <algorithm>

namespace memfence {

// The steps that the next one of `thread` directly depends on, others' only; and its clock, its own count not yet raised.
void Races::gather(int thread, const std::vector<Use>& uses, bool fails) {
  candidates_.clear();
  const auto consider = [&](int position) {
    if (position >= 0 && steps_[static_cast<std::size_t>(position)].thread != thread) candidates_.push_back(position);
  };
  for (const Use& use : uses) {
    const int written = last_[written_at(use.address)];
    consider(written);
    if (!use.writes) continue;
    for (std::size_t q = 0; q < threads_; ++q) {
      const int read = last_[read_at(use.address, q)];
      if (read > written) consider(read);
    }
  }
  if (fails)
    for (const int last : last_step_) consider(last);
  const int own = last_step_[static_cast<std::size_t>(thread)];
  if (own >= 0)
    next_clock_.assign(clock_of(static_cast<std::size_t>(own)), clock_of(static_cast<std::size_t>(own)) + threads_);
  else
    next_clock_.assign(threads_, 0);
}

void Races::merge_candidates() {
  for (const int c : candidates_) {
    const std::uint32_t* clock = clock_of(static_cast<std::size_t>(c));
    for (std::size_t q = 0; q < threads_; ++q) next_clock_[q] = std::max(next_clock_[q], clock[q]);
  }
}

const std::vector<int>& Races::races_of(int thread, const std::vector<Use>& uses, bool fails) {
  gather(thread, uses, fails);
  found_.clear();
  for (const int c : candidates_) {
    const auto position = static_cast<std::size_t>(c);
    if (before(position, next_clock_.data())) continue;  // ordered by what the thread did already
    const bool passed = std::any_of(candidates_.begin(), candidates_.end(), [&](int other) {
      return other != c && before(position, clock_of(static_cast<std::size_t>(other)));
    });
    const int number = steps_[position].number;
    if (!passed && std::find(found_.begin(), found_.end(), number) == found_.end()) found_.push_back(number);
  }
  merge_candidates();
  return found_;
}

Mask Races::initials(int race, int thread, bool& starts) const {
  const std::size_t e = position_[static_cast<std::size_t>(race)];
  const Step& raced = steps_[e];
  std::uint32_t first[kMostThreads];  // index of each thread's first step in the sequence
  Mask there = 0, result = 0;
  const auto follows = [&](const std::uint32_t* clock) {
    for (Mask rest = there; rest; rest &= rest - 1) {
      const int q = __builtin_ctzll(rest);
      if (clock[q] >= first[q]) return true;
    }
    return false;
  };
  for (std::size_t k = e + 1; k < steps_.size(); ++k) {
    const std::uint32_t* clock = clock_of(k);
    if (clock[raced.thread] >= raced.index) continue;
    const int q = steps_[k].thread;
    if (!follows(clock)) result |= bit(q);
    if (!(there & bit(q))) {
      there |= bit(q);
      first[q] = steps_[k].index;
    }
  }
  starts = !follows(next_clock_.data());
  if (starts) result |= bit(thread);
  return result;
}

void Races::push(int step, int thread, const std::vector<Use>& uses, bool fails) {
  gather(thread, uses, fails);
  merge_candidates();
  const auto p = static_cast<std::size_t>(thread);
  const std::uint32_t index = ++next_clock_[p];
  const auto position = static_cast<int>(steps_.size());
  steps_.push_back({step, thread, index, last_step_[p], undo_.size()});
  clocks_.insert(clocks_.end(), next_clock_.begin(), next_clock_.end());
  if (position_.size() <= static_cast<std::size_t>(step)) position_.resize(static_cast<std::size_t>(step) + 1);
  position_[static_cast<std::size_t>(step)] = static_cast<std::size_t>(position);
  for (const Use& use : uses) {
    const std::size_t place = use.writes ? written_at(use.address) : read_at(use.address, p);
    undo_.push_back({place, last_[place]});
    last_[place] = position;
  }
  last_step_[p] = position;
}

void Races::pop() {
  const Step& s = steps_.back();
  for (; undo_.size() > s.undo; undo_.pop_back()) last_[undo_.back().place] = undo_.back().before;
  last_step_[static_cast<std::size_t>(s.thread)] = s.previous;
  steps_.pop_back();
  clocks_.resize(clocks_.size() - threads_);
}

}  // namespace memfence
