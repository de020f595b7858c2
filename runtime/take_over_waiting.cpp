// Condition variables, semaphores, barriers, read-write locks and spin locks. Their state lies in the program's own
// objects, so that it is reset with all memory.
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

int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, const char* name, void* pc, bool timed) {
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
  const bool signalled = await_signal(condition, -1, "waits for a signal", pc, timed);
  world.synchronise(mutex, kMutex, "pthread_mutex_lock", pc, is_free);
  m.owner = me.id + 1;
  m.count = count;
  return signalled ? 0 : ETIMEDOUT;
}

void pass_until(const timespec* limit) {
  const auto then = static_cast<std::uint64_t>(limit->tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(limit->tv_nsec);
  if (world.me().nanoseconds < then) world.me().nanoseconds = then;
}

}  // namespace

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
  return wait_condition(condition, mutex, "pthread_cond_wait", PC, false);
}
MEMFENCE_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_timedwait, condition, mutex, limit);
  const int outcome = wait_condition(condition, mutex, "pthread_cond_timedwait", PC, true);
  if (outcome != 0) pass_until(limit);
  return outcome;
}
MEMFENCE_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_clockwait, condition, mutex, clock, limit);
  const int outcome = wait_condition(condition, mutex, "pthread_cond_clockwait", PC, true);
  if (outcome != 0) pass_until(limit);
  return outcome;
}
MEMFENCE_EXPORT int pthread_cond_signal(pthread_cond_t* condition) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_signal, condition);
  world.synchronise(condition, kCondition, "pthread_cond_signal", PC);
  world.wake(condition, 1);
  return 0;
}
MEMFENCE_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) {
  MEMFENCE_UNLESS_EXPLORED(pthread_cond_broadcast, condition);
  world.synchronise(condition, kCondition, "pthread_cond_broadcast", PC);
  world.wake(condition, kMostFibers);
  return 0;
}

// --- Semaphores --------------------------------------------------------------------------------------------------------------

namespace {
unsigned& value_of(sem_t* semaphore) { return *reinterpret_cast<unsigned*>(semaphore); }
bool is_positive(const Fiber& me) { return *static_cast<unsigned*>(me.wish.object) > 0; }
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
  world.synchronise(semaphore, kSemaphore, "sem_trywait", PC);
  if (value_of(semaphore) == 0) {
    errno = EAGAIN;
    return -1;
  }
  --value_of(semaphore);
  return 0;
}
MEMFENCE_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(sem_timedwait, semaphore, limit);
  if (sem_trywait(semaphore) == 0) return 0;
  pass_until(limit);
  errno = ETIMEDOUT;
  return -1;
}
MEMFENCE_EXPORT int sem_post(sem_t* semaphore) {
  MEMFENCE_UNLESS_EXPLORED(sem_post, semaphore);
  world.synchronise(semaphore, kSemaphore, "sem_post", PC);
  ++value_of(semaphore);
  return 0;
}
MEMFENCE_EXPORT int sem_getvalue(sem_t* semaphore, int* value) {
  MEMFENCE_UNLESS_EXPLORED(sem_getvalue, semaphore, value);
  world.synchronise(semaphore, kSemaphore, "sem_getvalue", PC);
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

// --- Read-write locks and spin locks -------------------------------------------------------------------------------------------

namespace {
struct ReadWriteLock {
  int writer, readers;
};
ReadWriteLock& lock_of(pthread_rwlock_t* lock) { return *reinterpret_cast<ReadWriteLock*>(lock); }
bool has_no_writer(const Fiber& me) { return static_cast<ReadWriteLock*>(me.wish.object)->writer == 0; }
bool has_nobody(const Fiber& me) {
  const auto& lock = *static_cast<ReadWriteLock*>(me.wish.object);
  return lock.writer == 0 && lock.readers == 0;
}
bool is_spin_free(const Fiber& me) { return *static_cast<int*>(me.wish.object) == 0; }
}  // namespace

MEMFENCE_EXPORT int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_init, lock, attributes);
  __builtin_memset(lock, 0, sizeof(*lock));
  return 0;
}
MEMFENCE_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_destroy, lock);
  return 0;
}
MEMFENCE_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_rdlock, lock);
  world.synchronise(lock, kReadWriteLock, "pthread_rwlock_rdlock", PC, has_no_writer);
  ++lock_of(lock).readers;
  return 0;
}
MEMFENCE_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_wrlock, lock);
  world.synchronise(lock, kReadWriteLock, "pthread_rwlock_wrlock", PC, has_nobody);
  lock_of(lock).writer = world.me().id + 1;
  return 0;
}
MEMFENCE_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_tryrdlock, lock);
  world.synchronise(lock, kReadWriteLock, "pthread_rwlock_tryrdlock", PC);
  if (lock_of(lock).writer != 0) return EBUSY;
  ++lock_of(lock).readers;
  return 0;
}
MEMFENCE_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_trywrlock, lock);
  world.synchronise(lock, kReadWriteLock, "pthread_rwlock_trywrlock", PC);
  if (lock_of(lock).writer != 0 || lock_of(lock).readers != 0) return EBUSY;
  lock_of(lock).writer = world.me().id + 1;
  return 0;
}
MEMFENCE_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_unlock, lock);
  world.synchronise(lock, kReadWriteLock, "pthread_rwlock_unlock", PC);
  ReadWriteLock& l = lock_of(lock);
  if (l.writer == world.me().id + 1)
    l.writer = 0;
  else if (l.readers > 0)
    --l.readers;
  else
    world.fail(Finding::Misuse, "pthread_rwlock_unlock of a lock that the thread does not hold", PC);
  return 0;
}

MEMFENCE_EXPORT int pthread_spin_init(pthread_spinlock_t* lock, int shared) {
  MEMFENCE_UNLESS_EXPLORED(pthread_spin_init, lock, shared);
  *lock = 0;
  return 0;
}
MEMFENCE_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_spin_lock, lock);
  world.synchronise(const_cast<int*>(lock), kMutex, "pthread_spin_lock", PC, is_spin_free);
  *lock = 1;
  return 0;
}
MEMFENCE_EXPORT int pthread_spin_trylock(pthread_spinlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_spin_trylock, lock);
  world.synchronise(const_cast<int*>(lock), kMutex, "pthread_spin_trylock", PC);
  if (*lock != 0) return EBUSY;
  *lock = 1;
  return 0;
}
MEMFENCE_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_spin_unlock, lock);
  world.synchronise(const_cast<int*>(lock), kMutex, "pthread_spin_unlock", PC);
  *lock = 0;
  return 0;
}
