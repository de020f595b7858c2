#include "stateless/dpor.hpp"

namespace memfence {

void Dpor::collect_uses(const Offer& offer, std::size_t first, std::size_t last) {
  uses_.clear();
  const auto add = [&](const Access& a) {
    if (!a.touches_memory()) return;
    for (const Races::Use& use : uses_)
      if (use.address == a.address && use.writes == a.writes()) return;
    uses_.push_back({a.address, a.writes()});
  };
  for (std::size_t i = first; i < last; ++i) add(offers_.access(i));
  for (std::size_t i = offer.blocked; i < offer.accesses_end; ++i) add(offers_.access(i));
}

void Dpor::backtrack_for(int process, bool fails) {
  for (const int race : races_.races_of(process, uses_, fails)) {
    Frame& then = frames_[static_cast<std::size_t>(race)];
    bool starts = false;
    const Mask initials = races_.initials(race, process, starts);
    if (starts && !(then.enabled & bit(process))) continue;  // it was blocked there: the race cannot be reversed
    if (initials & (then.backtrack | then.sleep)) continue;
    then.backtrack |= starts ? bit(process) : bit(__builtin_ctzll(initials));
  }
}

void Dpor::push(std::size_t number, bool fails) {
  Frame& frame = frames_[number];
  const Alternative& taken = offers_.alternative(frame.alternative);
  collect_uses(offers_.of(number, frame.process), taken.accesses, taken.accesses_end);
  backtrack_for(frame.process, fails);
  races_.push(static_cast<int>(number), frame.process, uses_, fails);
  frame.raced = true;
  if (fails) frame.backtrack = frame.enabled;
}

void Dpor::look_back(std::size_t number, Mask blocked) {
  for (; blocked; blocked &= blocked - 1) {
    const int p = __builtin_ctzll(blocked);
    const Offer& mine = offers_.of(number, p);
    collect_uses(mine, mine.blocked, mine.blocked);
    backtrack_for(p, false);
  }
}

Mask Dpor::still_asleep(std::size_t number) const {
  const Frame& frame = frames_[number];
  const Alternative& taken = offers_.alternative(frame.alternative);
  Mask awake = bit(frame.process);
  for (Mask rest = frame.sleep & ~awake; rest; rest &= rest - 1) {
    const int q = __builtin_ctzll(rest);
    if (taken.fails || offers_.of(number, q).fails || is_woken(number, taken, q)) awake |= bit(q);
  }
  return frame.sleep & ~awake;
}

bool Dpor::is_woken(std::size_t number, const Alternative& taken, int sleeper) const {
  const Offer& theirs = offers_.of(number, sleeper);
  const Offer& mine = offers_.of(number, frames_[number].process);
  for (std::size_t k = theirs.accesses; k < theirs.accesses_end; ++k) {
    const Access& a = offers_.access(k);
    for (std::size_t i = taken.accesses; i < taken.accesses_end; ++i)
      if (conflict(a, offers_.access(i))) return true;
    for (std::size_t i = mine.blocked; i < mine.accesses_end; ++i)
      if (conflict(a, offers_.access(i))) return true;
  }
  return false;
}

}  // namespace memfence
