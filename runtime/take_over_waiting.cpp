// Condition variables, semaphores and barriers. Their state lies in the program's own objects, so that it is reset with
// all memory.
//
// Who gets a signal is not fixed: every thread that waited when it was sent may take it, and the order of steps decides.
// There are no spurious wake-ups. A wait with a time limit may end at any moment.
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

int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, const char* name, void* pc, const timespec* limit) {
  Fiber& me = world.me();
  Mutex& m = mutex_of(mutex);
  if (m.owner != me.id + 1) world.fail(Finding::Misuse, "a wait with a mutex that the thread does not hold", pc);
  world.settle();
  world.changed();
  if (!world.is_alone()) {
    me.freed.clear();
    me.freed.push_back({AccessKind::LockedStore, world.cells.synchronisation(condition, kCondition)});
    me.freed.push_back({AccessKind::LockedStore, world.cells.synchronisation(mutex, kMutex)});
  }
  world.stop(world.wish_for(condition, kCondition, name, pc, nullptr));
  me.freed.clear();
  const int count = m.count;
  m.owner = m.count = 0;
  const bool signalled = await_signal(condition, -1, "waits for a signal", pc, limit != nullptr);
  world.synchronise(mutex, kMutex, "pthread_mutex_lock", pc, is_free);
  m.owner = me.id + 1;
  m.count = count;
  if (signalled) return 0;
  pass_until(limit);
  return ETIMEDOUT;
}

// Where nobody waits, libc only looks: no fence.
void signal_condition(pthread_cond_t* condition, int count, const char* name, void* pc) {
  world.look_at(condition, kCondition, name, pc);
  if (!world.has_waiting(condition)) return;
  world.synchronise(condition, kCondition, name, pc);
  world.wake(condition, count);
}

}  // namespace memfence::running

// --- Condition variables -----------------------------------------------------------------------------------------------------

MEMFENCE_EXPORT int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_init, condition, attributes);
  __builtin_memset(condition, 0, sizeof(*condition));
  return 0;
}
MEMFENCE_EXPORT int pthread_cond_destroy(pthread_cond_t* condition) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_destroy, condition);
  return 0;
}
MEMFENCE_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_wait, condition, mutex);
  return wait_condition(condition, mutex, "pthread_cond_wait", PC, nullptr);
}
MEMFENCE_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_timedwait, condition, mutex, limit);
  return wait_condition(condition, mutex, "pthread_cond_timedwait", PC, limit);
}
MEMFENCE_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_clockwait, condition, mutex, clock, limit);
  return wait_condition(condition, mutex, "pthread_cond_clockwait", PC, limit);
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
bool is_positive(const Fiber& me) { return *static_cast<unsigned*>(me.wish.object) > 0; }

// A semaphore that is 0 is only looked at: no fence.
bool try_down(sem_t* semaphore, const char* name, void* pc) {
  world.look_at(semaphore, kSemaphore, name, pc);
  if (value_of(semaphore) == 0) return false;
  world.synchronise(semaphore, kSemaphore, name, pc);
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
  __builtin_memset(semaphore, 0, sizeof(*semaphore));
  value_of(semaphore) = value;
  return 0;
}
MEMFENCE_EXPORT int sem_destroy(sem_t* semaphore) {
  MEMFENCE_UNLESS_EXPLORED(sem_destroy, semaphore);
  return 0;
}
MEMFENCE_EXPORT int sem_wait(sem_t* semaphore) {
  MEMFENCE_UNLESS_EXPLORED(sem_wait, semaphore);
  world.synchronise(semaphore, kSemaphore, "sem_wait", PC, is_positive);
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
  world.synchronise(semaphore, kSemaphore, "sem_post", PC);
  ++value_of(semaphore);
  return 0;
}
MEMFENCE_EXPORT int sem_getvalue(sem_t* semaphore, int* value) {
  MEMFENCE_UNLESS_EXPLORED(sem_getvalue, semaphore, value);
  world.look_at(semaphore, kSemaphore, "sem_getvalue", PC);
  *value = static_cast<int>(value_of(semaphore));
  return 0;
}

// --- Barriers ----------------------------------------------------------------------------------------------------------------

namespace {
struct Barrier {
  unsigned count, arrived, generation;
};
bool has_passed(const Fiber& me) { return static_cast<Barrier*>(me.wish.object)->generation != me.generation; }
}  // namespace

MEMFENCE_EXPORT int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) {
  MEMFENCE_UNLESS_EXPLORED(pthread_barrier_init, barrier, attributes, count);
  *reinterpret_cast<Barrier*>(barrier) = {count, 0, 0};
  return count == 0 ? EINVAL : 0;
}
MEMFENCE_EXPORT int pthread_barrier_destroy(pthread_barrier_t* barrier) {
  MEMFENCE_UNLESS_EXPLORED(pthread_barrier_destroy, barrier);
  return 0;
}
MEMFENCE_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) {
  MEMFENCE_UNLESS_EXPLORED(pthread_barrier_wait, barrier);
  auto& b = *reinterpret_cast<Barrier*>(barrier);
  world.synchronise(barrier, kBarrier, "pthread_barrier_wait", PC);
  if (++b.arrived == b.count) {
    b.arrived = 0;
    ++b.generation;
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  world.me().generation = b.generation;
  world.synchronise(barrier, kBarrier, "waits at the barrier", PC, has_passed);
  return 0;
}
