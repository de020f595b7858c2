// One execution as a graph: what each thread has done, from which write each read reads, in which order writes reached each
// location (modification order), and vector clocks that tell what leads to what.
//
// Events are numbered by thread and place in it, so that a number keeps its meaning while other threads lose events. The
// graph also remembers in which order events were added: events are taken back from its end, or left out by `restrict`.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "graphs/action.hpp"

namespace memfence::graphs {

using EventId = std::int32_t;
constexpr EventId kNoEvent = -1;
constexpr EventId kInitial = -2;  // the initial write of the location in question
constexpr EventId kNowhere = -3;  // the source of a read that waits for another value than it could see so far
constexpr int kThreadShift = 20;

inline EventId event_id(int thread, int number) { return (thread << kThreadShift) | number; }
inline int thread_of(EventId id) { return id >> kThreadShift; }
inline int number_of(EventId id) { return id & ((1 << kThreadShift) - 1); }

struct Event {
  ActionKind kind;
  Order order;
  bool is_update;  // the read, or the write, of a read-modify-write that does write
  int location;    // of accesses
  Value value;     // read, written, or chosen
  EventId source;  // of a read: the write that it reads from, kInitial or kNowhere
  int place;       // of a write: its place in modification order; the initial write has place 0
  int stamp;       // its place in the order in which events were added

  bool reads() const { return kind == ActionKind::Read; }
  bool writes() const { return kind == ActionKind::Write; }
  bool is_plain() const { return (order & kAtomic) == 0; }
  bool waits() const { return reads() && source == kNowhere; }
};

// For every event a clock says of each thread how many of its events lead to it, itself included.
using Count = std::uint16_t;
enum ClockKind {
  kCausal,    // by program order and reads-from
  kHappens,   // by happens-before; the same as kCausal for models without synchronisation
  kAcquired,  // happens-before of a fence that acquires, if one came next
  kReleased,  // happens-before of the last fence that released
  kMessage,   // of a write: what a read that acquires learns from it
  kClocks
};

class ExecutionGraph {
 public:
  // `clocks`: how many kinds of clocks events have.
  explicit ExecutionGraph(int clocks = kClocks) : clocks_(clocks) {}

  // Threads and locations may become known later; what was known keeps its number.
  void ensure(int threads, int locations);
  int threads() const { return static_cast<int>(threads_.size()); }
  int locations() const { return static_cast<int>(locations_.size()); }

  // All events, as they were added, and those of a thread, in program order.
  const std::vector<EventId>& events() const { return added_; }
  std::size_t size() const { return added_.size(); }
  int size(int thread) const { return static_cast<int>(threads_[at(thread)].events.size()); }
  const Event& event(EventId id) const { return threads_[at(thread_of(id))].events[at(number_of(id))]; }
  EventId last(int thread) const { return size(thread) ? event_id(thread, size(thread) - 1) : kNoEvent; }
  // How many events of the thread have been taken: all but a last read that still waits.
  int taken(int thread) const { return size(thread) - waits(thread); }
  bool waits(int thread) const { return size(thread) != 0 && threads_[at(thread)].events.back().waits(); }

  // The writes of a location in modification order, without the initial one, and the reads, as they were added.
  const std::vector<EventId>& writes(int location) const { return locations_[at(location)].writes; }
  const std::vector<EventId>& reads(int location) const { return locations_[at(location)].reads; }
  // The write at a place; kInitial at place 0.
  EventId write_at(int location, int place) const {
    return place == 0 ? kInitial : locations_[at(location)].writes[at(place - 1)];
  }
  // The place of a write; `id` may be kInitial.
  int place_of(EventId id) const { return id == kInitial ? 0 : event(id).place; }

  const Count* clock(EventId id, ClockKind kind) const {
    return &threads_[at(thread_of(id))].clocks[(at(number_of(id)) * at(clocks_) + kind) * stride_];
  }
  Count* clock(EventId id, ClockKind kind) {
    return &threads_[at(thread_of(id))].clocks[(at(number_of(id)) * at(clocks_) + kind) * stride_];
  }
  int clocks() const { return clocks_; }
  std::size_t stride() const { return stride_; }
  // Whether the event is known to the clock; a null clock knows nothing. Initial writes are known to everybody.
  static bool knows(const Count* clock, EventId id) {
    return id == kInitial || (clock != nullptr && number_of(id) < clock[thread_of(id)]);
  }

  // How many first events of the thread are as they were at the last `settle`: for executors, which follow.
  int settled(int thread) const { return threads_[at(thread)].settled; }
  void settle() {
    for (int t = 0; t < threads(); ++t) settle(t);
  }
  void settle(int thread) { threads_[at(thread)].settled = taken(thread); }
  // The executor follows another graph for some time, which begins with what is settled there by now.
  void unsettle(const ExecutionGraph& other);

  // Every event that was taken, in an order that respects program order and reads-from: executed like this, a program does
  // what the graph says.
  void replay_order(std::vector<EventId>& order) const;

  // Add an event as the last of its thread; a write goes to its `place`. Clocks are the model's matter: they begin as a copy
  // of those of the event before, with the event itself counted.
  EventId add(int thread, Event event);
  // What a read, the last event of its thread, reads from; its clocks begin anew.
  void set_source(EventId read, EventId source, Value value, Order order, bool is_update);
  void take_back(std::size_t size);  // until so many events are left
  // All events of `from` up to the one with this stamp, and those known to `prefix`; the one with the stamp itself is kept,
  // as a read that waits, so that it keeps its place among the others.
  void restrict(const ExecutionGraph& from, int stamp, const Count* prefix);

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }
  void begin_clocks(int thread);
  void insert(EventId id, int location, int place);
  void remove(int location, int place);

  struct Thread {
    std::vector<Event> events;
    std::vector<Count> clocks;
    int settled = 0;
  };
  struct Location {
    std::vector<EventId> writes, reads;
  };

  int clocks_;
  std::size_t stride_ = 0;
  std::vector<Thread> threads_;
  std::vector<Location> locations_;
  std::vector<EventId> added_;
};

}  // namespace memfence::graphs
