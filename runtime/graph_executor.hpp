// The running program as an executor of the core's explorer of execution graphs.
//
// Going back is beginning anew: memory is reset, and the events of the graph are taken again in one go, each thread handing
// over to the next one.
//
// A read in a loop may lead the thread back to where it is: then it only waits. Nobody knows before it was tried. So the
// thread runs on with the value, up to its next event; if the explorer takes the value, that is where the thread stands, and
// if not, everything begins anew before the thread moves again. What came out is remembered: it depends on what the thread
// has read so far, and on nothing else.
#pragma once

#include <unordered_map>
#include <vector>

#include "graph_stops.hpp"
#include "graphs/executor.hpp"

namespace memfence::running {

class GraphExecutor {
 public:
  explicit GraphExecutor(std::uint64_t depth) : depth_(depth) {}

  int threads() const { return world.known_threads(); }
  int locations() const { return world.cells.numbered(); }
  graphs::Value initial(int location) const { return world.initial(location); }
  void reset();
  graphs::Action next(int thread);
  graphs::Outlook outlook(int thread, graphs::Value value);
  void take(int thread, graphs::Value value);
  void follow(const graphs::ExecutionGraph& graph);
  bool has_learned() const { return world.cells.learned; }

  // What each thread was told so far, in an order in which that can be done again.
  const std::vector<int>& turns() const { return turns_; }
  const std::vector<graphs::Value>& given() const { return given_; }
  // Whether the thread, which waits at the end of the execution, goes on waiting with what memory holds at last.
  bool waits_for_ever(int thread, const graphs::ExecutionGraph& graph);
  // Run them again, from the beginning.
  void repeat();
  std::uint64_t taken_again = 0;  // events, in order to go back

 private:
  struct Thread {
    std::vector<graphs::Value> taken;  // what was read, written or chosen
    bool completes = false;            // the write of a read-modify-write comes next
    bool is_ahead = false;             // the fiber has run on with this value, which nobody has decided
    graphs::Value ahead = 0;
    GraphStop before;                  // what it asked before it did
    Wish wish_before;
  };
  struct Case {
    std::uint64_t a, b;
    bool operator==(const Case&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Case& of) const { return of.a; }
  };

  Thread& of(int thread) { return threads_[static_cast<std::size_t>(thread)]; }
  void begin();
  void start_quiet_threads();
  void resume(int thread, graphs::Value value);
  void catch_up();
  const GraphStop& ask_of(int thread) { return of(thread).is_ahead ? of(thread).before : world.fiber(thread).ask; }
  const Wish& wish_of(int thread) { return of(thread).is_ahead ? of(thread).wish_before : world.fiber(thread).wish; }
  bool is_ready(const Fiber& fiber, const Wish& wish, graphs::Value state, bool (*test)(const Fiber&)) const;
  bool leads_back(int thread, graphs::Value value);
  bool run_ahead(int thread, graphs::Value value);
  Case case_of(int thread, graphs::Value value) const;

  std::uint64_t depth_;
  std::vector<Thread> threads_;
  std::vector<int> turns_;
  std::vector<graphs::Value> given_;
  std::vector<graphs::EventId> order_;
  std::unordered_map<Case, bool, Hash> known_;
  bool is_behind_ = false;  // some fiber is ahead, and has to move otherwise
};

}  // namespace memfence::running
