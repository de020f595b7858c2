// The program while it runs: its threads as fibers, each stopped before its next step, and the memory that they share.
//
// Two sides use it. The scheduler (the explorer, on the stack of the process) resets, asks what threads wish, and lets one
// take a step. The program, through the hooks (hooks.cpp, take_over_*.cpp), stops before each step. When the order of the
// next steps is known already, fibers hand over to each other directly: that is what makes running again fast.
#pragma once

#include "cells.hpp"
#include "exits.hpp"
#include "fiber.hpp"
#include "guards.hpp"
#include "locations.hpp"

namespace memfence::running {

constexpr int kMostFibers = 64;
constexpr std::uint64_t kFirstSecond = 1'700'000'000;  // executions begin then

enum class Finding : std::uint8_t {
  None,
  Assertion,
  Abort,
  Signal,
  Error,
  Terminate,
  Panic,
  Exception,
  Trap,
  Unreachable,
  Crash,
  StackOverflow,
  DoubleFree,
  BadFree,
  UseAfterFree,
  UseAfterEnd,
  Arithmetic,
  OutOfBounds,
  ExitStatus,
  EndlessLoop,
  Unsupported,
  Misuse,
};
const char* name_of(Finding finding);

constexpr const char* kEndless = "the thread loops without a visible operation";

struct Failure {
  Finding kind = Finding::None;
  int thread = -1;
  void* pc = nullptr;
  const char* function = nullptr;  // that was called, where that is how it fails
  int status = 0;
  char message[256] = {};
};

// A step as it is written down, for reports.
struct Logged {
  int thread;
  Wish wish;
  std::uint64_t value;
  bool has_value;
  std::size_t calls, calls_end;  // in `call_log`
  std::size_t more, more_end;    // in `access_log`: accesses of a step that makes several
  bool is_flush;                 // a buffered store reaches memory
  int choice;                    // what the environment did, or 0
  int event = -1;                // of a graph: its number in the thread
};

// Stores that reach memory in the order in which they were made: of one thread and, under PSO, to one cell.
struct StoreQueue {
  int thread, number;              // number: of the cell; -1: all cells
  std::uint32_t entered = 0, left = 0;  // stores, in this execution
};

// Whether a thread is back where it was: in any case, or as long as what it has looked at stays as it is.
enum class Return : std::uint8_t { None, Always, Unchanged };

// How synchronisation objects are told apart from memory, and from each other.
enum Synchronisation : int {
  kMutex,
  kCondition,
  kSemaphore,
  kBarrier,
  kReadWriteLock,
  kOnce,
  kFutex,
  kBirth,
  kExit,
  kGuard,
  kAtExit,
  kSpinLock,
  kBuffer
};

class World {
 public:
  // --- For the scheduler ---------------------------------------------------------------------------------------------------

  void open(int (*main)(int, char**, char**), int argc, char** argv, char** environment);
  // Begin again: memory as before `main`, and `main` run up to its first step.
  void reset();
  // Let threads take these steps, in this order. A negative number ~n: a buffered store reaches memory, see `flush`. The
  // others: thread + 64 * what its environment chooses, see `may_choose`.
  void run(const int* steps, std::size_t count);
  // The same for graphs: each thread goes on with the value that its read returns, or the way that its choice goes.
  void run(const int* threads, const graphs::Value* given, std::size_t count) {
    given_ = given;
    run(threads, count);
    given_ = nullptr;
  }
  bool is_over() const { return failure.kind != Finding::None || has_ended; }
  int known_threads() const { return static_cast<int>(identities_.size()); }
  Fiber& fiber(int id) { return *fibers_[id]; }
  const Fiber& fiber(int id) const { return *fibers_[id]; }
  bool is_done(int id) const { return is_over() || id >= created_ids_end_ || fibers_[id]->state == Fiber::State::Done; }
  // Nobody can go on. Whether this is for ever: not if somebody waits in a loop that might have ended without a change.
  bool waits_for_ever() const;
  // Nobody can go on: a thread that was left behind is why, where there is one.
  void blame_endless();
  bool has_endless() const {
    for (int id = 0; id < known_threads(); ++id)
      if (!is_done(id) && fibers_[id]->is_endless) return true;
    return false;
  }
  bool is_unborn(int id) const { return fibers_[id]->state == Fiber::State::Unborn; }
  bool is_ready(int id) const;
  // Whether the environment can do that to the thread now, instead of its step: 1 to `whims` of its wish.
  bool may_choose(int id, int choice) const;
  // All that can happen next, but for stores that reach memory: steps for `run`.
  std::size_t possible_steps(int (&steps)[4 * kMostFibers]) const;
  // A buffered store reaches memory: that of thread `which` % 64, the `which` / 64-th in its buffer.
  void flush(int which);
  // Whether the thread has to wait for a store of its own before its next load.
  static bool needs_flush(const Fiber& fiber);
  // Whether it may, where stores to different cells need not keep their order.
  static bool may_flush(const Fiber& fiber, std::size_t entry);
  // Queues of stores, as far as they are known. -1: the thread has never stored there.
  const List<StoreQueue>& store_queues() const { return store_queues_; }
  int queue_of(int thread, int number) const;
  void identity(int id, int& parent, int& index) const {
    parent = identities_[static_cast<std::size_t>(id)].parent;
    index = identities_[static_cast<std::size_t>(id)].index;
  }
  // Loads in loops that wait, as far as they are known.
  const List<void*>& loops() const { return loops_; }
  void expect_loop(void* pc) {
    loops_.push_back(pc);
    reads_clock_ |= pc == kClock;
  }
  // The program asks what time it is: what time has passed for a thread is part of what it knows from now on.
  void look_at_clock();
  // Threads that a schedule names before they were ever created.
  int identify(int parent, int index);

  // Whether the execution counts: no assumption is false, and nobody just goes round because of something spurious.
  bool is_void() const;
  bool has_false_assumption() const;

  Cells cells;
  Locations locations;
  Guards guards;
  Failure failure;
  bool has_ended = false;  // `main` returned, or exit was called, while others were alive
  bool simulates = false;  // stores wait in buffers
  bool reorders = false;   // they may overtake each other there
  bool logs = false;
  bool makes_graphs = false;  // executions are explored as graphs: an explorer decides what reads return
  bool has_weak_reads = false;  // some atomic read of the program did not acquire
  bool has_threads = false;   // this execution has created one
  bool scouts = false;     // nobody knows yet what is shared: threads that take no step for long let others run
  bool explores = false;     // all executions are being run, within bounds
  bool prunes = true;        // what is spurious and leads nowhere is not followed then
  Return leads_back = Return::None;  // of what happened for no reason: this execution goes nowhere that others do not go
  int most_spurious = 1;     // at each place, of each thread
  bool has_more_wake_ups = false, has_more_failures = false;  // than that, and not without consequence
  bool spins_roughly = false;  // a loop was taken for one that waits without being certain
  bool is_on = false;      // executions are being run: the hooks do something
  bool in_program = false;
  bool is_abort_normal = false, is_exit_normal = false, is_signal_normal = false;  // ends that are no failures
  bool runs_tests = false;  // `main` gives each test a thread of its own, and nobody asks what it does meanwhile
  std::uint64_t ignored_signals = 0;
  std::uint64_t progress = 0;
  bool is_interrupted = false;  // the thread runs for too long
  List<Logged> log;
  List<void*> call_log;
  List<NumberedAccess> access_log;
  Fiber* current = nullptr;
  List<ThreadExit> early_exits;  // of `main`, from before it began

  // --- For the program -----------------------------------------------------------------------------------------------------

  Fiber& me() { return *current; }
  // Signals that nobody has taken yet, of a condition variable or futex.
  int& tokens_of(void* object);
  bool has_waiting(const void* object) const;
  // Wake up to `count` of those that wait there now; whoever is scheduled first takes it. Returns how many.
  int wake(void* object, int count);
  // Nobody else can notice anything. What graphs say of a location, they say until the end.
  bool is_alone() const { return makes_graphs ? !has_threads : unjoined_ == 0; }
  // Stop before the step, until it is chosen.
  void stop(const Wish& wish);
  void let_others_run();
  // Stop before an event of the graph. Returns what the explorer decided (graph_stops.cpp).
  graphs::Value stop(const Wish& wish, const GraphStop& ask);
  // What memory held at the location before the first event there, as met so far.
  graphs::Value initial(int location) const {
    const auto n = static_cast<std::size_t>(location);
    return n < initial_.size() && initial_[n].is_known ? initial_[n].value : 0;
  }
  void forget_initial() { initial_.clear(); }
  // Something that synchronises was initialised by the program.
  void initialised(void* object, Synchronisation kind, void* pc);
  // What became of the object that the last step was about.
  void settle_object();
  void give_up_execution(void* pc);
  // Something happened to the thread for no reason: its next step shows whether that matters.
  bool may_be_spurious(Whim whim);
  void follow_whim(Whim whim, void* site, void* object = nullptr, std::uint64_t state = 0);
  // Whether the thread, which woke up without a signal, is about to sleep again, as it did before.
  bool is_back_asleep(const void* object, std::uint64_t state) const;
  int ending_thread() const { return ending_; }
  void set_ending_thread(int id) { ending_ = id; }
  // A step on a synchronisation object, once it is ready.
  void look_at(void* object, Synchronisation kind, const char* name, void* pc);  // a load of its state, without a fence
  void synchronise(void* object, Synchronisation kind, const char* name, void* pc, bool (*is_ready)(const Fiber&) = nullptr,
                   Role role = Role::Both);
  // The same for a step that takes the object if it may, and never waits; or is the first one, and waits for it.
  void try_to_take(void* object, Synchronisation kind, const char* name, void* pc, bool (*may)(const Fiber&));
  void begin_once(void* object, Synchronisation kind, const char* name, void* pc, bool (*is_ready)(const Fiber&),
                  bool (*is_first)(const Fiber&));
  Wish wish_for(void* object, Synchronisation kind, const char* name, void* pc, bool (*is_ready)(const Fiber&));
  int next_thread(void* pc);  // that the present one creates
  void create(void* (*start)(void*), void* argument, bool detached, void* pc);
  void joined(Fiber& other);
  [[noreturn]] void finish(void* result);
  // `function`: that ends it; null: `main` returns.
  [[noreturn]] void end_process(Exit exit, int status, const char* function, void* pc);
  [[noreturn]] void fail(Finding kind, const char* message, void* pc);
  // The thread's last store is in memory by now. `changed`: other state of the program is different from before.
  void settle();
  void store_late();  // what the program has stored as a whole, step by step (hooks.cpp)
  void changed() {
    current->seen.clear();
    ++current->changes;
    current->unchanged_since = nullptr;
  }
  // What the thread reads there: its own newest buffered store, or memory.
  std::uint64_t value_for(const Fiber& fiber, const Cell& cell) const;
  void see(const Wish& wish, std::uint64_t value, std::uint64_t state);
  // The thread is about to load. Whether it was here before, in the same state, and has changed nothing since.
  std::uint64_t consider_waiting(Wish& wish, void** frame);
  // All that the thread knows besides memory.
  std::uint64_t state_of(void** frame) const;
  // Something spurious has happened to the thread: find out whether it matters.
  void probe(const Probe& probe) {
    current->probe = probe;
    current->probe.changes = current->changes;
  }
  // The thread is back at a wait, and has not yet changed anything by it.
  void come_to_wait(const Wish& wish) {
    current->wish = wish;
    judge(*current);
  }
  void watch_use(const void* address, std::size_t size, bool writes);
  // Whether a loop that waits may begin at this load.
  void learn_loop(void* pc);
  void note_store(const Cell& cell, int number);
  // The thread's store waits in its buffer.
  void buffer_store(const Cell& cell, int number, std::uint64_t value);
  void log_value(std::uint64_t value) {
    if (logs && !log.empty() && logged_) log.back().value = value, log.back().has_value = true;
  }
  void crash_landing(Finding kind, void* pc, const char* message);
  // The thread runs on for ever, and nobody could notice what it does: the others go on without it.
  void leave_behind(void* pc);
  void* scheduler_stack = nullptr;
  [[noreturn]] void enter_fiber();
  bool is_on_stack_guard(const void* address) const;
  // Whether the memory went with another thread.
  bool is_lost(const void* address) const;

 private:
  void stop_as_graph(const Wish& wish);
  void judge_whim(Fiber& me);
  void scrub_below();
  void remember_initial(const Wish& wish, int location);
  struct Identity {
    int parent, index;
  };
  void prepare(Fiber& fiber);
  bool is_last() const;
  void stop_before_end(Exit exit, void* pc);
  void lose_variables(Fiber& me);
  void next(Fiber& from);
  void resume(Fiber& to);
  void use_storage(Fiber& of);
  void write_down(const Fiber& fiber);
  bool loops_at(void* pc) const;
  static inline void* const kClock = reinterpret_cast<void*>(1);  // among the loops: learned, saved and compared as they are
  bool reads_clock_ = false;
  void judge(Fiber& fiber);
  Return returns(const Fiber& fiber);
  void give_up_probe(Fiber& fiber);

  struct Queue {
    void* object;
    int tokens;
  };
  List<Queue> queues_;
  List<StoreQueue> store_queues_;
  Fiber* fibers_[kMostFibers] = {};
  int created_ids_end_ = 0;  // fibers that exist as objects
  int used_ = 0;  // fibers of this execution: the highest number + 1
  List<Identity> identities_;
  int unjoined_ = 0;
  int ending_ = -1;  // the thread that runs what is to be run at the end of the process
  bool is_beginning_ = false;  // nobody has taken a step: threads created now are there from the start
  const int* plan_ = nullptr;
  std::size_t plan_size_ = 0, plan_at_ = 0;
  const graphs::Value* given_ = nullptr;
  struct Initial {
    graphs::Value value = 0;
    bool is_known = false;
  };
  List<Initial> initial_;
  Fiber* storage_owner_ = nullptr;
  List<char> main_storage_, thread_storage_;
  List<void*> loops_;
  bool logged_ = false;
  int (*main_)(int, char**, char**) = nullptr;
  int argc_ = 0;
  char **argv_ = nullptr, **environment_ = nullptr;
  char* is_single_threaded_ = nullptr;  // as libc tells libraries
};

extern World world;

}  // namespace memfence::running
