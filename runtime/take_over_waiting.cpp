// Condition variables, semaphores and barriers. Their state lies in the program's own objects, so that it is reset with
// all memory.
//
// Who gets a signal is not fixed: every thread that waited when it was sent may take it, and the order of steps decides.
// A wait may end without a signal (spurious.cpp), and one with a time limit at any moment.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "mutex.hpp"
#include "real.hpp"
#include "signalling.hpp"

using namespace memfence::running;
using memfence::AccessKind;

#define PC __builtin_return_address(0)

namespace {

void pass_until(const timespec* limit) {
  const auto then = static_cast<std::uint64_t>(limit->tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(limit->tv_nsec);
  if (world.me().nanoseconds < then) world.me().nanoseconds = then;
}

}  // namespace

namespace memfence::running {

namespace {

// One that polls: its time was over before, and nothing has changed since. It waits for a change, as a loop does that loads
// again and again.
bool is_signalled_or_changed(const Fiber& me) {
  if (is_signalled(me)) return true;
  for (const Seen& seen : me.seen)
    if (world.value_for(me, seen.cell) != seen.value) return true;
  return false;
}

struct Waiting {
  pthread_cond_t* condition;
  pthread_mutex_t* mutex;
  const char* name;
  void** frame;
  const timespec* limit;
};

// The thread lets the mutex go and sleeps, in one step.
Wish wish_to_sleep(const Waiting& wait, std::uint64_t state) {
  Wish wish = world.wish_for(wait.condition, kCondition, wait.name, wait.frame[kReturnAddress], nullptr);
  wish.mutex = wait.mutex;
  wish.state = state;
  return wish;
}

Wish wish_to_wake_up(const Waiting& wait, bool polls) {
  Wish wish = world.wish_for(wait.condition, kCondition, "waits for a signal", wait.frame[kReturnAddress],
                             wait.limit == nullptr ? is_signalled
                             : polls               ? is_signalled_or_changed
                                                   : nullptr);
  wish.spins = polls;
  wish.whim = Whim::WakeUp;
  wish.whims = 1;
  wish.mutex = wait.mutex;
  wish.mutex_number = world.is_alone() ? -1 : world.cells.synchronisation(wait.mutex, kMutex);
  return wish;
}

}  // namespace

namespace {
int& mark_of(pthread_cond_t* condition) { return *reinterpret_cast<int*>(condition); }
}  // namespace

int destroy_condition(pthread_cond_t* condition, void* pc) {
  return destroy(mark_of(condition), condition, kCondition, "pthread_cond_destroy", "condition variable", pc,
                 [&] { return world.has_waiting(condition); });
}

// The same as events: the thread is there to be signalled, lets the mutex go, is signalled or wakes up without, and takes the
// mutex again.
static int sleep_in_graph(const Waiting& wait) {
  Fiber& me = world.me();
  Mutex& m = mutex_of(wait.mutex);
  void* const pc = wait.frame[kReturnAddress];
  const std::uint64_t state = world.state_of(wait.frame);
  if (world.is_back_asleep(wait.condition, state)) world.give_up_execution(pc);
  world.synchronise(wait.condition, kCondition, wait.name, pc);
  require_alive(mark_of(wait.condition), "condition variable", pc);
  me.waits_on = wait.condition;
  me.is_eligible = false;
  world.synchronise(wait.mutex, kMutex, "lets the mutex go", pc, nullptr, Role::Gives);
  const int count = m.count;
  release(wait.mutex);
  const bool is_signalled = await_signal_in_graph(wait.condition, kCondition, "waits for a signal",
                                                  wait.limit == nullptr ? "wakes up without a signal" : "its time is over", pc);
  world.synchronise(wait.mutex, kMutex, "pthread_mutex_lock", pc, is_free, Role::Takes);
  require_mutex(wait.mutex, pc);
  take(wait.mutex);
  m.count = count;
  if (is_signalled) return 0;
  world.follow_whim(Whim::WakeUp, site_of(wait.frame), wait.condition, state);
  if (wait.limit == nullptr) return 0;
  pass_until(wait.limit);
  return ETIMEDOUT;
}

int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, const char* name, void** frame, const timespec* limit) {
  const Waiting wait{condition, mutex, name, frame, limit};
  Fiber& me = world.me();
  Mutex& m = mutex_of(mutex);
  void* const pc = frame[kReturnAddress];
  require_mutex(mutex, pc);
  require_alive(mark_of(condition), "condition variable", pc);
  if (m.owner != me.id + 1) world.fail(Finding::Misuse, "a wait with a mutex that the thread does not hold", pc);
  world.settle();
  if (world.makes_graphs) return sleep_in_graph(wait);
  const std::uint64_t state = world.state_of(frame);
  const Wish sleep = wish_to_sleep(wait, state);
  world.come_to_wait(sleep);
  me.checked = me.unchanged_since == mutex && !me.seen.empty() ? me.seen[0] : Seen{};
  const bool polls = limit != nullptr && me.polled.state == state && me.polled.value == me.changes;
  List<Seen> looked_at;
  if (polls) looked_at = me.seen;
  world.changed();
  if (!world.is_alone()) {
    me.freed.clear();
    me.freed.push_back({AccessKind::LockedStore, world.cells.synchronisation(condition, kCondition)});
    me.freed.push_back({AccessKind::LockedStore, world.cells.synchronisation(mutex, kMutex)});
  }
  world.stop(sleep);
  me.freed.clear();
  require_alive(mark_of(condition), "condition variable", pc);
  const int count = m.count;
  release(mutex);
  me.seen = looked_at;
  const Awaited end = await_signal(wish_to_wake_up(wait, polls));
  if (end.is_spurious)
    world.changed();
  else
    world.synchronise(mutex, kMutex, "pthread_mutex_lock", pc, is_free);
  require_mutex(mutex, pc);
  take(mutex);
  m.count = count;
  if (end.is_spurious)
    world.probe({.whim = Whim::WakeUp, .site = site_of(frame), .state = state, .object = condition, .mutex = mutex});
  if (end.is_signalled || end.is_spurious) return 0;
  pass_until(limit);
  me.polled = Seen{.value = me.changes, .state = state};
  return ETIMEDOUT;
}

// Where nobody waits, libc only looks: no fence.
void signal_condition(pthread_cond_t* condition, int count, const char* name, void* pc) {
  if (world.makes_graphs) {
    world.begin_once(condition, kCondition, name, pc, nullptr,
                     [](const Fiber& me) { return world.has_waiting(me.wish.object); });
    require_alive(mark_of(condition), "condition variable", pc);
    if (world.has_waiting(condition)) world.wake(condition, count);
    return;
  }
  world.look_at(condition, kCondition, name, pc);
  require_alive(mark_of(condition), "condition variable", pc);
  if (!world.has_waiting(condition)) return;
  world.synchronise(condition, kCondition, name, pc);
  require_alive(mark_of(condition), "condition variable", pc);
  world.wake(condition, count);
}

}  // namespace memfence::running

// --- Condition variables -----------------------------------------------------------------------------------------------------

MEMFENCE_EXPORT int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_init, condition, attributes);
  __builtin_memset(condition, 0, sizeof(*condition));
  world.initialised(condition, kCondition, PC);
  return 0;
}
MEMFENCE_EXPORT int pthread_cond_destroy(pthread_cond_t* condition) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_destroy, condition);
  return destroy_condition(condition, PC);
}
// These are entered by way of hook_entries.cpp, which keeps the registers of the caller.
MEMFENCE_BODY int memfence_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_wait, condition, mutex);
  return wait_condition(condition, mutex, "pthread_cond_wait", memfence_frame, nullptr);
}
MEMFENCE_BODY int memfence_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_timedwait, condition, mutex, limit);
  return wait_condition(condition, mutex, "pthread_cond_timedwait", memfence_frame, limit);
}
MEMFENCE_BODY int memfence_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_clockwait, condition, mutex, clock, limit);
  return wait_condition(condition, mutex, "pthread_cond_clockwait", memfence_frame, limit);
}
MEMFENCE_EXPORT int pthread_cond_signal(pthread_cond_t* condition) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_signal, condition);
  signal_condition(condition, 1, "pthread_cond_signal", PC);
  return 0;
}
MEMFENCE_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_broadcast, condition);
  signal_condition(condition, kMostFibers, "pthread_cond_broadcast", PC);
  return 0;
}

// --- Semaphores --------------------------------------------------------------------------------------------------------------

namespace {
unsigned& value_of(sem_t* semaphore) { return *reinterpret_cast<unsigned*>(semaphore); }
int& mark_of(sem_t* semaphore) { return reinterpret_cast<int*>(semaphore)[1]; }
void require_semaphore(sem_t* semaphore, void* pc) { require_alive(mark_of(semaphore), "semaphore", pc); }
bool is_positive(const Fiber& me) {
  auto* semaphore = static_cast<sem_t*>(me.wish.object);
  return value_of(semaphore) > 0 || mark_of(semaphore) == kDestroyed;
}

// A semaphore that is 0 is only looked at: no fence.
bool try_down(sem_t* semaphore, const char* name, void* pc) {
  if (!world.makes_graphs) {
    world.look_at(semaphore, kSemaphore, name, pc);
    require_semaphore(semaphore, pc);
    if (value_of(semaphore) == 0) return false;
  }
  world.try_to_take(semaphore, kSemaphore, name, pc, is_positive);
  require_semaphore(semaphore, pc);
  if (value_of(semaphore) == 0) return false;
  --value_of(semaphore);
  return true;
}

int down_until(sem_t* semaphore, const timespec* limit, const char* name, void* pc) {
  if (try_down(semaphore, name, pc)) return 0;
  pass_until(limit);
  errno = ETIMEDOUT;
  return -1;
}
}  // namespace

MEMFENCE_EXPORT int sem_init(sem_t* semaphore, int shared, unsigned value) {
  MEMFENCE_UNLESS_EXPLORED(sem_init, semaphore, shared, value);
  if (value > SEM_VALUE_MAX) {
    errno = EINVAL;
    return -1;
  }
  __builtin_memset(semaphore, 0, sizeof(*semaphore));
  value_of(semaphore) = value;
  world.initialised(semaphore, kSemaphore, PC);
  return 0;
}
MEMFENCE_EXPORT int sem_destroy(sem_t* semaphore) {
  MEMFENCE_UNLESS_EXPLORED(sem_destroy, semaphore);
  return destroy(mark_of(semaphore), semaphore, kSemaphore, "sem_destroy", "semaphore", PC, [] { return false; });
}
MEMFENCE_EXPORT int sem_wait(sem_t* semaphore) {
  MEMFENCE_UNLESS_EXPLORED(sem_wait, semaphore);
  world.synchronise(semaphore, kSemaphore, "sem_wait", PC, is_positive, Role::Takes);
  require_semaphore(semaphore, PC);
  --value_of(semaphore);
  return 0;
}
MEMFENCE_EXPORT int sem_trywait(sem_t* semaphore) {
  MEMFENCE_UNLESS_EXPLORED(sem_trywait, semaphore);
  if (try_down(semaphore, "sem_trywait", PC)) return 0;
  errno = EAGAIN;
  return -1;
}
MEMFENCE_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(sem_timedwait, semaphore, limit);
  return down_until(semaphore, limit, "sem_timedwait", PC);
}
MEMFENCE_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(sem_clockwait, semaphore, clock, limit);
  return down_until(semaphore, limit, "sem_clockwait", PC);
}
MEMFENCE_EXPORT int sem_post(sem_t* semaphore) {
  MEMFENCE_UNLESS_EXPLORED(sem_post, semaphore);
  world.synchronise(semaphore, kSemaphore, "sem_post", PC, nullptr, Role::Gives);
  require_semaphore(semaphore, PC);
  ++value_of(semaphore);
  return 0;
}
MEMFENCE_EXPORT int sem_getvalue(sem_t* semaphore, int* value) {
  MEMFENCE_UNLESS_EXPLORED(sem_getvalue, semaphore, value);
  world.look_at(semaphore, kSemaphore, "sem_getvalue", PC);
  require_semaphore(semaphore, PC);
  *value = static_cast<int>(value_of(semaphore));
  return 0;
}

// --- Barriers ----------------------------------------------------------------------------------------------------------------

namespace {
struct Barrier {
  unsigned count, arrived, generation;
  int mark;
};
bool has_passed(const Fiber& me) { return static_cast<Barrier*>(me.wish.object)->generation != me.generation; }
Barrier& barrier_of(pthread_barrier_t* barrier) { return *reinterpret_cast<Barrier*>(barrier); }
}  // namespace

MEMFENCE_EXPORT int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) {
  MEMFENCE_UNLESS_EXPLORED(pthread_barrier_init, barrier, attributes, count);
  *reinterpret_cast<Barrier*>(barrier) = {count, 0, 0, 0};
  world.initialised(barrier, kBarrier, PC);
  return count == 0 ? EINVAL : 0;
}
MEMFENCE_EXPORT int pthread_barrier_destroy(pthread_barrier_t* barrier) {
  MEMFENCE_UNLESS_EXPLORED(pthread_barrier_destroy, barrier);
  return destroy(barrier_of(barrier).mark, barrier, kBarrier, "pthread_barrier_destroy", "barrier", PC,
                 [&] { return barrier_of(barrier).arrived != 0; });
}
MEMFENCE_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) {
  MEMFENCE_UNLESS_EXPLORED(pthread_barrier_wait, barrier);
  Barrier& b = barrier_of(barrier);
  world.synchronise(barrier, kBarrier, "pthread_barrier_wait", PC);
  require_alive(b.mark, "barrier", PC);
  if (++b.arrived == b.count) {
    b.arrived = 0;
    ++b.generation;
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  world.me().generation = b.generation;
  world.synchronise(barrier, kBarrier, "waits at the barrier", PC, has_passed, Role::Looks);
  return 0;
}
