// A thread of the program: a stack of its own, its copy of thread-local storage, and what it is about to do.
#pragma once

#include <unwind.h>

#include <cstdint>

#include "execution/access.hpp"
#include "graphs/action.hpp"
#include "own_heap.hpp"

namespace memfence::running {

struct Fiber;

// A value in memory, of up to eight bytes.
struct Cell {
  void* address = nullptr;
  std::uint8_t size = 0;
  // The usual sizes without a call.
  std::uint64_t read() const {
    std::uint64_t value = 0;
    switch (size) {
      case 1: return *static_cast<std::uint8_t*>(address);
      case 4: __builtin_memcpy(&value, address, 4); break;
      case 8: __builtin_memcpy(&value, address, 8); break;
      default: __builtin_memcpy(&value, address, size);
    }
    return value;
  }
  void write(std::uint64_t value) const { __builtin_memcpy(address, &value, size); }
};

// What a load saw, for threads that wait until it changes.
struct Seen {
  Cell cell;
  int number = -1;  // of the cell, as the explorer counts
  std::uint64_t value = 0;
  void* pc = nullptr;
  std::uint64_t state = 0;  // digest of registers and stack
  bool is_spurious = false;  // a weak compare-exchange failed there that could have succeeded
};

// What the environment may do to a thread at a step, instead of what the step is for.
enum class Whim : std::uint8_t {
  None,
  WakeUp,   // the thread wakes up though nobody has signalled
  Failure,  // a weak compare-exchange fails though it could succeed
};

struct NumberedAccess {
  AccessKind kind;
  int number;
};

// How a synchronisation object takes part in what happens before what: by a step that takes it, gives it back, does both, or
// only looks.
enum class Role : std::uint8_t { Both, Takes, Gives, Looks };

// What the explorer of execution graphs is asked before a thread goes on (graph_stops.hpp).
struct GraphStop {
  graphs::ActionKind kind = graphs::ActionKind::None;
  graphs::Order order = 0;          // of a read that updates: where it does
  graphs::Order otherwise = 0;      // where it does not
  graphs::Order of_write = 0;       // of the write that it then makes
  enum class Updates : std::uint8_t { Never, Always, IfExpected, IfReady } updates = Updates::Never;
  int location = -1;
  graphs::Value value = 0;          // that is written, or expected
  int ways = 0;
  bool may_loop = false;            // its value may lead back to where the thread is
};

// The next step of a thread. It stops before it and says so.
struct Wish {
  enum class What : std::uint8_t { Access, Begin, Synchronise, Fence, End, Choice, Nothing };
  What what = What::Nothing;
  AccessKind kind = AccessKind::Load;
  int number = -1;                              // of the cell
  Cell cell;
  void* pc = nullptr;
  bool (*is_ready)(const Fiber&) = nullptr;     // null: at once
  void* object = nullptr;                       // that is waited for
  std::size_t awaited = 0;                      // in `seen`, from here on: one of these has to change
  bool spins = false;
  bool spins_roughly = false;                   // it may end without any change: nobody knows
  bool is_atomic = false;
  const char* name = nullptr;                   // of a call: "pthread_mutex_lock"
  std::uint64_t state = 0;                      // digest of registers and stack, where it is of interest
  Whim whim = Whim::None;
  int whims = 0;                                // in how many ways
  std::uint64_t expected = 0;                   // by the compare-exchange that may fail
  void* mutex = nullptr;                        // that the thread takes when it wakes up
  int mutex_number = -1;
  bool is_void = false;                         // the execution does not count: an assumption is false
  int object_kind = -1;                         // of `object`: a Synchronisation
  Role role = Role::Both;
  bool (*tries)(const Fiber&) = nullptr;        // whether a step that never waits takes the object
  bool spins_after_whim = false;                // it goes round since something spurious happened, and for no other reason
  bool locked() const { return kind != AccessKind::Load && kind != AccessKind::Store; }
};

// A store that waits in the simulated store buffer.
struct Buffered {
  Cell cell;
  int number;
  std::uint64_t value;
  std::uint32_t epoch = 0;  // PSO: stores of a later epoch reach memory later
  int queue = -1;           // of the world: the store is somewhere in it
};

// A store of several cells, or one whose value is not known before other steps: the program makes it as a whole, and when
// it has, it is taken back and made step by step.
struct LateStore {
  char* address = nullptr;
  std::size_t size = 0;  // 0: there is none
  void* pc = nullptr;
  bool is_volatile = false;
  bool awaits_load = false;  // the program loads what it will store first
  List<char> before, after;
  void remember() { before.assign(address, address + size); }
  void take_back() {
    after.assign(address, address + size);
    __builtin_memcpy(address, before.data(), size);
  }
};

struct ThreadLocalValue {
  unsigned key;
  const void* value;
};

// Something spurious has happened to the thread. What it does next shows whether that matters (spurious.cpp).
struct Probe {
  Whim whim = Whim::None;   // None: there is nothing to find out
  void* site = nullptr;
  std::uint64_t state = 0;    // of the thread when it happened
  std::uint32_t changes = 0;  // that it had made by then
  int steps = 0;              // since then
  Cell cell;                // of the compare-exchange
  char* expected = nullptr;  // where it wants to find what it expects
  enum class Use : std::uint8_t { None, Read, Overwritten } use = Use::None;  // first use of that, since then
  void* object = nullptr;  // where it waits
  void* mutex = nullptr;
};

struct SpuriousCount {
  void* site;
  int count;
};

struct ThreadExit {
  void (*function)(void*);
  void* object;
};

struct Fiber {
  int id = -1;
  void* stack_pointer = nullptr;
  char* stack = nullptr;      // its lowest byte
  std::size_t stack_size = 0;
  List<char> thread_local_storage;  // of libraries, while others run
  char* variables = nullptr;        // thread-local, of the program
  enum class State : std::uint8_t { Unborn, Running, Done } state = State::Unborn;
  bool joined = false, detached = false, quiet_birth = false;
  bool is_gone = false;       // with its stack and its thread-local variables
  bool is_endless = false;    // it runs on without a step that others could notice
  int created = 0;            // threads so far
  int joiner = -1;
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  Wish wish;
  List<NumberedAccess> freed;  // cells of a block that the next step frees, or of variables that it takes away
  std::uint32_t releases = 0;         // release fences and release stores so far
  std::uint32_t stored_releases = 0;  // the same, when it stored last
  std::uint32_t epoch = 0;            // of its last store in the buffer: how often it released between two of them
  bool has_unfenced_store = false;  // to a shared cell
  // The last store: the program makes it after the hook returned.
  Cell unsettled;
  std::uint64_t before = 0;
  std::size_t logged = 0;     // its place in the log, from 1
  int unsettled_number = -1;  // of a shared cell
  LateStore late;
  List<Buffered> buffer, shown, loaded;
  List<Seen> seen;            // since memory changed last
  List<void*> calls;
  List<ThreadLocalValue> values;
  List<ThreadExit> exits;
  List<void*> cleanups;        // of pthread_cleanup_push in C: where their frames go on
  _Unwind_Exception unwinding = {};  // its stack, once it has called pthread_exit
  void* waits_on = nullptr;   // condition variable or futex
  int choice = 0;             // what was chosen for its last step: 0, or what its environment did
  std::uint32_t changes = 0;  // that it made to memory, its stack aside, or to synchronisation objects
  void* unchanged_since = nullptr;  // the mutex that it has taken last; it has changed nothing since
  List<const void*> held;     // mutexes
  Seen checked;               // the first load since then, when it began to wait
  Probe probe;
  bool has_failed_for_no_reason = false;  // a weak compare-exchange of it, in this execution
  List<SpuriousCount> spurious;  // in this execution, and not without consequence
  Seen polled;                // the wait with a time limit that was over last: its place, state, and changes by then
  std::uint32_t unnoticed = 0;  // accesses since its last step that nobody else can notice, as far as is known
  bool is_in_library = false;  // it copies or compares memory: its loads follow each other whatever they see
  bool is_eligible = false;   // a signal was for whoever waited then, this one among them
  // As the explorer of graphs sees the thread.
  GraphStop ask, asked;       // now, and before its last step
  graphs::Value given = 0;    // what the read returns, which way the choice goes
  bool is_updating = false;   // between the read and the write of a read-modify-write of memory that others know
  bool has_update = false;    // the read was that of a read-modify-write, which writes `update`
  graphs::Value update = 0;
  void* object = nullptr;     // that the last step was about, until the next one: its state is not in the graph yet
  int object_kind = -1;
  bool restores_object = false;  // the step has only looked at an older state: this is the newer one
  graphs::Value object_state = 0;
  List<void*> trail;          // where each of its events comes from
  unsigned generation = 0;    // of the barrier that it waits at
  std::uint64_t nanoseconds = 0;  // that have passed for it
  std::uint64_t chance = 0;       // random numbers that it got
};

}  // namespace memfence::running
