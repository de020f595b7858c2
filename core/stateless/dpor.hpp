// Which choices have to be tried: source-set DPOR with sleep sets (Abdulla, Aronis, Jonsson, Sagonas 2014).
//
// What it needs here beyond the paper:
//  * A thread whose guards read memory may be blocked, and be let go by another's write. A step therefore counts as reading
//    what its thread's *blocked* ways read, too; and whenever a step leaves a thread blocked, the step it cannot take is
//    checked for races like one that is taken.
//  * A thread may have several ways on: choosing the thread explores all of them.
//  * A step that fails ends the execution, so it depends on everything: all others are tried before it as well.
// Steps without memory access are taken at once, before any choice is made: nothing depends on them.
#pragma once

#include <vector>

#include "stateless/frame.hpp"
#include "stateless/offers.hpp"

namespace memfence {

class Dpor {
 public:
  Dpor(int threads, std::vector<Frame>& frames, const Offers& offers) : frames_(frames), offers_(offers), races_(threads) {}

  void ensure_addresses(int count) { races_.ensure_addresses(count); }

  // A step was taken from the frame: add what has to be tried instead of the steps it races with.
  void push(std::size_t number, bool fails);
  void pop() { races_.pop(); }
  // The last step has blocked these threads, or left them blocked in another way: could they have gone on before that
  // step? Asked at once, not at the end: of several writes that block one, the first alone may have taken its chance.
  void look_back(std::size_t number, Mask blocked);
  // Who still sleeps behind the step taken from the frame: none of its conflicts wakes it.
  Mask still_asleep(std::size_t number) const;

 private:
  void collect_uses(const Offer& offer, std::size_t first, std::size_t last);
  void backtrack_for(int process, bool fails);
  bool is_woken(std::size_t number, const Alternative& taken, int sleeper) const;

  std::vector<Frame>& frames_;
  const Offers& offers_;
  Races races_;
  std::vector<Races::Use> uses_;  // of the step that is looked at
};

}  // namespace memfence
