// A state on the way of the present execution: which choices are open there, and what the step taken from it has to undo.
#pragma once

#include "stateless/races.hpp"

namespace memfence {

struct Frame {
  // Scheduling.
  Mask enabled = 0, waiting = 0, sleep = 0, backtrack = 0;
  Mask optional = 0;  // enabled threads that may also wait for ever
  Mask idle = 0;      // threads that were tried here in vain, and may be tried again behind any step
  int process = -1;
  std::size_t alternative = 0;
  int last = -1;  // who moved last, for counting preemptions
  int preemptions = 0;
  int choices = 0;      // frames before this one in which there was a choice
  bool forced = false;  // a step without memory access, taken at once
  // What the step taken from here has to undo.
  bool stepped = false, raced = false, monitored = false;
  std::size_t mark = 0, overwritten = 0;
  // The monitor. Threads with a plain store that no fence has followed; whether a load has followed one: before and after
  // the step.
  Mask unfenced = 0, unfenced_after = 0;
  bool gap = false, gap_after = false;
  bool borderline = false;  // what led here, or what is possible here
  int region = -1;          // frame in which the open lock region began

  // Nobody goes on who has to.
  bool is_stuck() const { return enabled != 0 && (enabled & ~optional) == 0; }
  bool is_preemption(int p) const { return !forced && last >= 0 && last != p && (enabled & bit(last)); }
};

}  // namespace memfence
