// Depth-first search through the executions of an executor, one execution at a time.
//
// Some ways on are optional: the environment may take them, or never. Where no others are left, the execution ends there,
// and also goes on. Optional ways are tried behind all others, so that whatever happens without any of them is met as if
// there were none.
//
// With a bound on preemptions the reduction is off: a reduced set of executions need not hold, for each class, the one
// with the fewest preemptions. So it is where threads meet other than in memory.
//
// Several processes can share the tree. Up to the first few choices each of them tries all threads, with sleep sets alone,
// and numbers the subtrees that it comes to; it enters those that are its own. Sleep sets leave one execution of each class
// in the tree, however it is cut, so that the numbers of executions add up to those of one process.
#pragma once

#include "stateless/dpor.hpp"
#include "stateless/path.hpp"

namespace memfence {

template <Executor E>
class Explorer {
 public:
  // `arguments`: for the constructor of the executor.
  template <class... Arguments>
  Explorer(const ExploreOptions& options, const Limits& limits, Arguments&&... arguments)
      : options_(options),
        limits_(limits),
        watch_(limits_),
        path_(std::forward<Arguments>(arguments)...),
        dpor_(path_.executor.threads(), path_.frames, path_.offers),
        reduce_(options.reduce && options.preemptions < 0 && path_.executor.meets_in_memory_only() &&
                path_.executor.threads() <= kMostThreads) {}

  ExploreResult run() {
    result_.reduced = reduce_;
    for (start_ = 0; start_ < path_.executor.starts() && result_.stop == Stop::None; ++start_) explore();
    result_.seconds = watch_.seconds();
    return std::move(result_);
  }

 private:
  void explore();
  void enter();
  bool ends_here(const Frame& frame, bool failed) const {
    return failed || frame.enabled == 0 || (frame.enabled & ~frame.sleep) == 0 ||
           (options_.depth > 0 && path_.top() >= options_.depth);
  }
  bool is_trunk(const Frame& frame) const { return options_.parts > 1 && frame.choices < kTrunkChoices; }
  // What is met in the trunk is met by all: the first reports it.
  bool reports(const Frame& frame) const { return options_.part == 0 || !is_trunk(frame); }
  // Whether another process goes on from this frame, which begins a subtree or ends in the trunk.
  bool is_left_out(const Frame& frame, std::size_t number, bool ends) {
    if (options_.parts <= 1) return false;
    const bool begins = !is_trunk(frame) && number > 0 && is_trunk(path_.frames[number - 1]);
    if (!begins && !(ends && is_trunk(frame))) return false;
    return subtrees_++ % options_.parts != options_.part;
  }
  static int preferred(const Frame& frame, Mask open) {
    if (open & ~frame.optional) open &= ~frame.optional;
    return frame.last >= 0 && (open & bit(frame.last)) ? frame.last : __builtin_ctzll(open);
  }
  bool choose(Frame& frame);
  void next_alternative(Frame& frame);
  void take();
  void undo(Frame& frame);
  void end(bool over);
  void mark_idle();
  void end_stuck();
  void look_at_waiting();
  void count(bool failed, bool truncated, bool waits);
  Schedule schedule() const;
  void note_borderline(const StaleStep& found);
  void note_failure();
  void note_stuck();

  static constexpr int kTrunkChoices = 6;

  ExploreOptions options_;
  Limits limits_;
  Watch watch_;
  Path<E> path_;
  Dpor dpor_;
  bool reduce_;
  std::size_t start_ = 0;
  int subtrees_ = 0;
  bool has_ended_ = false;  // the last step taken has ended the execution without failing
  ExploreResult result_;
};

template <Executor E>
void Explorer<E>::explore() {
  path_.begin(start_);
  dpor_.ensure_addresses(path_.addresses);
  enter();
  while (!path_.frames.empty() && result_.stop == Stop::None) {
    Frame& frame = path_.frames.back();
    if (frame.stepped) {
      undo(frame);
      next_alternative(frame);
    }
    if (frame.process < 0 && !choose(frame)) {
      path_.leave();
      continue;
    }
    take();
  }
  while (!path_.frames.empty()) {
    if (path_.frames.back().stepped) undo(path_.frames.back());
    path_.leave();
  }
}

// A frame for the present state: inherit from the step that led here, and make the first choice.
template <Executor E>
void Explorer<E>::enter() {
  const Mask fresh = path_.enter();
  const std::size_t number = path_.top();
  Frame& frame = path_.frames.back();
  bool failed = false;
  if (reduce_) {
    dpor_.ensure_addresses(path_.addresses);
    dpor_.look_back(number, (frame.waiting | frame.optional) & fresh);
  }
  if (number > 0) {
    const Frame& parent = path_.frames[number - 1];
    frame.last = parent.forced ? parent.last : parent.process;
    frame.preemptions = parent.preemptions + parent.is_preemption(parent.process);
    frame.choices = parent.choices + (!parent.forced && (parent.enabled & (parent.enabled - 1)) != 0);
    if (reduce_) frame.sleep = dpor_.still_asleep(number - 1);
    failed = path_.taken(number - 1).fails;
  }
  const bool ends = ends_here(frame, failed);
  if (is_left_out(frame, number, ends)) {
    frame.process = -1;
    return;
  }
  const bool stuck = !failed && frame.is_stuck();
  if (stuck && (ends || reports(frame))) end_stuck();
  if (ends) {
    frame.process = -1;
    if (!stuck || (frame.enabled & ~frame.sleep) != 0) end(failed);
    return;
  }
  if (frame.process >= 0) {
    const Offer& local = path_.offer(number, frame.process);
    frame.forced = true;
    frame.alternative = local.first;
    frame.backtrack = local.fails ? frame.enabled : bit(frame.process);  // what fails is tried behind all others, too
    return;
  }
  frame.backtrack = reduce_ && !is_trunk(frame) ? bit(preferred(frame, frame.enabled & ~frame.sleep)) : frame.enabled;
}

template <Executor E>
bool Explorer<E>::choose(Frame& frame) {
  while (true) {
    const Mask open = frame.backtrack & frame.enabled & ~(frame.sleep | frame.idle);
    if (open == 0) return false;
    const int p = preferred(frame, open);
    frame.process = p;
    frame.alternative = path_.offer(path_.top(), p).first;
    if (options_.preemptions < 0 || frame.preemptions + frame.is_preemption(p) <= options_.preemptions) return true;
    result_.cut += reports(frame);
    frame.sleep |= bit(p);
    frame.process = -1;
  }
}

template <Executor E>
void Explorer<E>::next_alternative(Frame& frame) {
  if (++frame.alternative < path_.offer(path_.top(), frame.process).last) return;
  if (!(frame.idle & bit(frame.process))) frame.sleep |= bit(frame.process);
  frame.process = -1;
}

template <Executor E>
void Explorer<E>::take() {
  const std::size_t number = path_.top();
  Frame& frame = path_.frames.back();
  if (options_.monitor && !frame.borderline)
    if (const auto found = path_.monitor.before_step(number)) {
      frame.borderline = true;
      if (reports(frame)) note_borderline(*found);
    }
  const Executed outcome = path_.executor.execute(path_.taken(number), path_.offers);
  if (outcome == Executed::Redundant || outcome == Executed::Idle) {
    if (outcome == Executed::Idle) mark_idle();
    frame.stepped = true;
    ++result_.redundant;
    return;
  }
  const bool fails = outcome == Executed::Failed || outcome == Executed::Ended;
  has_ended_ = outcome == Executed::Ended;
  if (fails) path_.offers.set_failing(number, frame.process, frame.alternative);
  if (reduce_ && (fails || path_.offer(number, frame.process).touches)) dpor_.push(number, fails);
  frame.stepped = true;
  if (outcome == Executed::Stopped) result_.stop = Stop::Cancelled;
  if (result_.stop != Stop::None) return;
  if ((++result_.steps & 0xfff) == 0) {
    result_.stop = watch_.check(result_.executions, result_.steps, path_.frames.size(), 0);
    if (result_.stop != Stop::None) return;
  }
  enter();
}

// The thread has come back to where it was before the last optional step that it took.
template <Executor E>
void Explorer<E>::mark_idle() {
  const int me = path_.frames.back().process;
  for (std::size_t number = path_.frames.size(); number-- > 0;) {
    if (path_.frames[number].process != me || !path_.taken(number).optional) continue;
    path_.frames[number].idle |= bit(me);
    return;
  }
}

template <Executor E>
void Explorer<E>::undo(Frame& frame) {
  if (frame.raced) dpor_.pop();
  path_.monitor.undo(frame);
  path_.executor.go_back(frame.mark);
  frame.raced = frame.stepped = false;
}

template <Executor E>
void Explorer<E>::end(bool over) {
  const bool failed = over && !has_ended_;
  Frame& frame = path_.frames.back();
  const bool truncated = !over && (frame.enabled & ~frame.sleep) != 0;
  if (!over && !truncated && frame.enabled != 0) {
    ++result_.redundant;
    return;
  }
  if (!over && !truncated) look_at_waiting();
  count(failed, truncated, !over && !truncated && frame.waiting != 0);
}

template <Executor E>
void Explorer<E>::end_stuck() {
  look_at_waiting();
  count(false, false, true);
}

// The threads that wait at the end of the execution: could one have gone on with a stale value?
template <Executor E>
void Explorer<E>::look_at_waiting() {
  Frame& frame = path_.frames.back();
  if (!options_.monitor) return;
  for (Mask rest = frame.waiting; rest && !frame.borderline; rest &= rest - 1)
    if (const auto found = path_.monitor.at_end(path_.top(), __builtin_ctzll(rest))) {
      frame.borderline = true;
      note_borderline(*found);
    }
}

template <Executor E>
void Explorer<E>::count(bool failed, bool truncated, bool waits) {
  Frame& frame = path_.frames.back();
  ++result_.executions;
  result_.truncated += truncated;
  result_.failed += failed;
  result_.borderline += frame.borderline;
  result_.deadlocked += waits;
  if (failed) note_failure();
  if (waits) note_stuck();
  if constexpr (Listener<E>) path_.executor.ended({failed, truncated, waits, frame.borderline});
  if (result_.kept.size() < options_.keep) {
    Schedule& kept = result_.kept.emplace_back(schedule());
    kept.borderline = frame.borderline;
    kept.failed = failed;
    kept.truncated = truncated;
  }
  if (options_.stop_at_first && (failed || frame.borderline)) result_.stop = Stop::Found;
}

// The steps up to the present frame.
template <Executor E>
Schedule Explorer<E>::schedule() const {
  Schedule s;
  s.start = start_;
  for (std::size_t i = 0; i < path_.top(); ++i) s.edges.push_back(path_.taken(i).label);
  return s;
}

// Of all findings the shortest is kept.
template <Executor E>
void Explorer<E>::note_borderline(const StaleStep& found) {
  if (result_.first_borderline_seconds < 0) result_.first_borderline_seconds = watch_.seconds();
  if constexpr (Listener<E>) path_.executor.borderline(found);
  if (result_.finding && result_.finding->schedule.edges.size() <= path_.top()) return;
  result_.finding = BorderlineFinding{schedule(), found.label, found.reads};
}

template <Executor E>
void Explorer<E>::note_failure() {
  if (result_.first_failure_seconds < 0) result_.first_failure_seconds = watch_.seconds();
  if (!result_.failure || result_.failure->edges.size() > path_.top()) result_.failure = schedule();
}

template <Executor E>
void Explorer<E>::note_stuck() {
  if (!result_.stuck || result_.stuck->edges.size() > path_.top()) result_.stuck = schedule();
}

}  // namespace memfence
