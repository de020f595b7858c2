// Simulated store buffers as the explorer sees them: who moves stores to memory, and what depends on that.
//
// Each queue of stores has a companion, one more thread of the explorer, that moves its oldest store to memory. Under TSO a
// thread has one queue, under PSO one for each cell that it stores to: what is in one queue never overtakes.
//
// What the explorer takes for accesses of memory decides how many executions there are. That a store enters a queue depends
// on nothing that others do, nor on older ones leaving it: each store has a place in its queue, an address that is written
// when it enters and read when it leaves. A queue has few such addresses, which later stores use again: that only adds
// dependences. Whoever needs stores to be in memory reads what leaving writes.
#pragma once

#include "stateless/offers.hpp"
#include "world.hpp"

namespace memfence::running {

class StoreBuffers {
 public:
  StoreBuffers();

  int companions() const { return static_cast<int>(first_address_.size()); }
  bool is_empty(int queue) const { return head(queue) == kNone; }
  // The companion of the queue, as thread `me` of the explorer: its label for schedules is that of `label`.
  void offer(int queue, std::int16_t me, Offers& offers) const;
  // The step that takes the oldest store of the queue to memory now.
  int flush_step(int queue) const;
  // What a thread's next step does to its queues, or needs of them.
  void record_store(const Fiber& fiber, Offers& offers) const;
  void record_need(const Fiber& fiber, Offers& offers) const;

  static constexpr int kMostCompanions = kMostThreads;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr int kPlaces = 8;  // of stores in a queue
  static constexpr int kEpochs = 3;  // one that leaves, one that waits for it, one that nobody confuses with these
  std::size_t head(int queue) const;
  int place(int queue, std::uint32_t number) const { return first_address(queue) + static_cast<int>(number % kPlaces); }
  int left(int queue, std::uint32_t epoch) const { return first_address(queue) + kPlaces + static_cast<int>(epoch % kEpochs); }
  int first_address(int queue) const { return first_address_[static_cast<std::size_t>(queue)]; }
  static const StoreQueue& queue_at(int queue) { return world.store_queues()[static_cast<std::size_t>(queue)]; }
  void record_earlier(const Fiber& fiber, std::uint32_t epoch, std::int16_t me, Offers& offers) const;

  std::vector<int> first_address_;  // of each queue
};

}  // namespace memfence::running
