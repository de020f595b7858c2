#include "stateless/races.hpp"

#include <algorithm>

namespace memfence {

void Races::clear() {
  while (!steps_.empty()) pop();
}

// The steps that the next one of `process` directly depends on, others' only; and its clock, its own count not yet raised.
void Races::gather(int process, const std::vector<Use>& touches, bool fails) {
  candidates_.clear();
  const auto consider = [&](int position) {
    if (position >= 0 && steps_[static_cast<std::size_t>(position)].process != process) candidates_.push_back(position);
  };
  for (const Use& t : touches) {
    const int written = last_write_[static_cast<std::size_t>(t.variable)];
    consider(written);
    if (!t.writes) continue;
    for (std::size_t q = 0; q < processes_; ++q) {
      const int read = last_read_[static_cast<std::size_t>(t.variable) * processes_ + q];
      if (read > written) consider(read);
    }
  }
  if (fails)
    for (const int last : last_step_) consider(last);
  const int own = last_step_[static_cast<std::size_t>(process)];
  if (own >= 0)
    next_clock_.assign(clock_of(static_cast<std::size_t>(own)), clock_of(static_cast<std::size_t>(own)) + processes_);
  else
    next_clock_.assign(processes_, 0);
}

const std::vector<int>& Races::races_of(int process, const std::vector<Use>& touches, bool fails) {
  gather(process, touches, fails);
  found_.clear();
  for (const int c : candidates_) {
    const auto position = static_cast<std::size_t>(c);
    if (before(position, next_clock_.data())) continue;  // ordered by what the process did already
    const bool passed = std::any_of(candidates_.begin(), candidates_.end(), [&](int other) {
      return other != c && before(position, clock_of(static_cast<std::size_t>(other)));
    });
    const int number = steps_[position].number;
    if (!passed && std::find(found_.begin(), found_.end(), number) == found_.end()) found_.push_back(number);
  }
  for (const int c : candidates_) {
    const std::uint32_t* clock = clock_of(static_cast<std::size_t>(c));
    for (std::size_t q = 0; q < processes_; ++q) next_clock_[q] = std::max(next_clock_[q], clock[q]);
  }
  return found_;
}

Mask Races::initials(int race, int process, bool& starts) const {
  const std::size_t e = position_[static_cast<std::size_t>(race)];
  const Step& raced = steps_[e];
  std::uint32_t first[kMostProcesses];  // index of each process's first step in the sequence
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
    if (clock[raced.process] >= raced.index) continue;
    const int q = steps_[k].process;
    if (!follows(clock)) result |= bit(q);
    if (!(there & bit(q))) {
      there |= bit(q);
      first[q] = steps_[k].index;
    }
  }
  starts = !follows(next_clock_.data());
  if (starts) result |= bit(process);
  return result;
}

void Races::push(int step, int process, const std::vector<Use>& touches, bool fails) {
  gather(process, touches, fails);
  for (const int c : candidates_) {
    const std::uint32_t* clock = clock_of(static_cast<std::size_t>(c));
    for (std::size_t q = 0; q < processes_; ++q) next_clock_[q] = std::max(next_clock_[q], clock[q]);
  }
  const auto p = static_cast<std::size_t>(process);
  const std::uint32_t index = ++next_clock_[p];
  const auto position = static_cast<int>(steps_.size());
  steps_.push_back({step, process, index, last_step_[p], undo_.size()});
  clocks_.insert(clocks_.end(), next_clock_.begin(), next_clock_.end());
  if (position_.size() <= static_cast<std::size_t>(step)) position_.resize(static_cast<std::size_t>(step) + 1);
  position_[static_cast<std::size_t>(step)] = static_cast<std::size_t>(position);
  for (const Use& t : touches)
    set(t.writes ? last_write_[static_cast<std::size_t>(t.variable)]
                 : last_read_[static_cast<std::size_t>(t.variable) * processes_ + p],
        position);
  last_step_[p] = position;
}

void Races::pop() {
  const Step& s = steps_.back();
  for (; undo_.size() > s.undo; undo_.pop_back()) *undo_.back().place = undo_.back().before;
  last_step_[static_cast<std::size_t>(s.process)] = s.previous;
  steps_.pop_back();
  clocks_.resize(clocks_.size() - processes_);
}

}  // namespace memfence
