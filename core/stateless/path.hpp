// The execution that is being run: an executor, and a frame for each state on the way, with its offers and its monitor.
#pragma once

#include "stateless/lazy_monitor.hpp"

namespace memfence {

template <Executor E>
class Path {
 public:
  template <class... Arguments>
  explicit Path(Arguments&&... arguments)
      : executor(std::forward<Arguments>(arguments)...), offers(executor.threads()), monitor(executor, frames, offers) {}

  // No frame is left. Be in the initial state.
  void begin(std::size_t start) {
    executor.reset(start);
    frames.clear();
    offers.clear();
    monitor.begin();
    addresses = executor.addresses();
  }

  // A new frame for the present state. Returns the threads whose offers were made anew.
  Mask enter() {
    const std::size_t number = frames.size();
    const int moved = number > 0 ? frames[number - 1].process : -1;
    const Offers::Moves moves = offers.enter(executor, number, moved, number > 0 ? frames[number - 1].alternative : 0);
    Frame& frame = frames.emplace_back();
    frame.mark = executor.mark();
    frame.enabled = moves.enabled;
    frame.waiting = moves.waiting;
    frame.optional = moves.optional;
    frame.process = moves.local;
    if (executor.addresses() != addresses) {
      addresses = executor.addresses();
      monitor.ensure_addresses();
    }
    monitor.enter(number);
    return moves.fresh;
  }
  void leave() {
    offers.leave(executor);
    frames.pop_back();
  }

  std::size_t top() const { return frames.size() - 1; }
  const Alternative& taken(std::size_t number) const { return offers.alternative(frames[number].alternative); }
  const Offer& offer(std::size_t number, int thread) const { return offers.of(number, thread); }

  E executor;
  Offers offers;
  std::vector<Frame> frames;
  LazyMonitor<E> monitor;
  int addresses = 0;  // known to the monitor
};

}  // namespace memfence
