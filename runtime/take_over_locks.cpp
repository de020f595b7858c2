// Read-write locks and spin locks. Their state lies in the program's own objects, so that it is reset with all memory.
#include <errno.h>
#include <pthread.h>

#include "destroyed.hpp"
#include "real.hpp"

using namespace memfence::running;
using memfence::AccessKind;

#define PC __builtin_return_address(0)

namespace {
struct ReadWriteLock {
  int writer, readers, mark;
};
ReadWriteLock& lock_of(pthread_rwlock_t* lock) { return *reinterpret_cast<ReadWriteLock*>(lock); }
bool has_no_writer(const Fiber& me) { return static_cast<ReadWriteLock*>(me.wish.object)->writer == 0; }
bool has_nobody(const Fiber& me) {
  const auto& lock = *static_cast<ReadWriteLock*>(me.wish.object);
  return lock.writer == 0 && lock.readers == 0;
}
bool is_spin_free(const Fiber& me) {
  const int word = *static_cast<int*>(me.wish.object);
  return word == 0 || word == kDestroyed;
}
void require_lock(pthread_rwlock_t* lock, void* pc) { require_alive(lock_of(lock).mark, "read-write lock", pc); }
void require_spin_lock(pthread_spinlock_t* lock, void* pc) { require_alive(const_cast<int&>(*lock), "spin lock", pc); }

// A lock that is taken is only looked at: no fence.
bool try_read(pthread_rwlock_t* lock, const char* name, void* pc) {
  if (!world.makes_graphs) {
    world.look_at(lock, kReadWriteLock, name, pc);
    require_lock(lock, pc);
    if (lock_of(lock).writer != 0) return false;
  }
  world.try_to_take(lock, kReadWriteLock, name, pc, has_no_writer);
  require_lock(lock, pc);
  if (lock_of(lock).writer != 0) return false;
  ++lock_of(lock).readers;
  return true;
}

bool try_write(pthread_rwlock_t* lock, const char* name, void* pc) {
  if (!world.makes_graphs) {
    world.look_at(lock, kReadWriteLock, name, pc);
    require_lock(lock, pc);
    if (lock_of(lock).writer != 0 || lock_of(lock).readers != 0) return false;
  }
  world.try_to_take(lock, kReadWriteLock, name, pc, has_nobody);
  require_lock(lock, pc);
  if (lock_of(lock).writer != 0 || lock_of(lock).readers != 0) return false;
  lock_of(lock).writer = world.me().id + 1;
  return true;
}
}  // namespace

MEMFENCE_EXPORT int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_init, lock, attributes);
  __builtin_memset(lock, 0, sizeof(*lock));
  world.initialised(lock, kReadWriteLock, PC);
  return 0;
}
MEMFENCE_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_destroy, lock);
  ReadWriteLock& l = lock_of(lock);
  return destroy(l.mark, lock, kReadWriteLock, "pthread_rwlock_destroy", "read-write lock", PC,
                 [&] { return l.writer != 0 || l.readers != 0; });
}
MEMFENCE_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_rdlock, lock);
  world.synchronise(lock, kReadWriteLock, "pthread_rwlock_rdlock", PC, has_no_writer, Role::Takes);
  require_lock(lock, PC);
  ++lock_of(lock).readers;
  return 0;
}
MEMFENCE_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_wrlock, lock);
  world.synchronise(lock, kReadWriteLock, "pthread_rwlock_wrlock", PC, has_nobody, Role::Takes);
  require_lock(lock, PC);
  lock_of(lock).writer = world.me().id + 1;
  return 0;
}
MEMFENCE_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_tryrdlock, lock);
  return try_read(lock, "pthread_rwlock_tryrdlock", PC) ? 0 : EBUSY;
}
MEMFENCE_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_timedrdlock, lock, limit);
  return try_read(lock, "pthread_rwlock_timedrdlock", PC) ? 0 : ETIMEDOUT;
}
MEMFENCE_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_clockrdlock, lock, clock, limit);
  return try_read(lock, "pthread_rwlock_clockrdlock", PC) ? 0 : ETIMEDOUT;
}
MEMFENCE_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_trywrlock, lock);
  return try_write(lock, "pthread_rwlock_trywrlock", PC) ? 0 : EBUSY;
}
MEMFENCE_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_timedwrlock, lock, limit);
  return try_write(lock, "pthread_rwlock_timedwrlock", PC) ? 0 : ETIMEDOUT;
}
MEMFENCE_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_clockwrlock, lock, clock, limit);
  return try_write(lock, "pthread_rwlock_clockwrlock", PC) ? 0 : ETIMEDOUT;
}
MEMFENCE_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_rwlock_unlock, lock);
  world.synchronise(lock, kReadWriteLock, "pthread_rwlock_unlock", PC, nullptr, Role::Gives);
  require_lock(lock, PC);
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
  world.initialised(const_cast<int*>(lock), kSpinLock, PC);
  return 0;
}
MEMFENCE_EXPORT int pthread_spin_destroy(pthread_spinlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_spin_destroy, lock);
  auto& word = const_cast<int&>(*lock);
  return destroy(word, &word, kSpinLock, "pthread_spin_destroy", "spin lock", PC, [&] { return word != 0; });
}
MEMFENCE_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_spin_lock, lock);
  world.synchronise(const_cast<int*>(lock), kSpinLock, "pthread_spin_lock", PC, is_spin_free, Role::Takes);
  require_spin_lock(lock, PC);
  *lock = 1;
  return 0;
}
MEMFENCE_EXPORT int pthread_spin_trylock(pthread_spinlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_spin_trylock, lock);
  world.try_to_take(const_cast<int*>(lock), kSpinLock, "pthread_spin_trylock", PC, is_spin_free);
  require_spin_lock(lock, PC);
  if (*lock != 0) return EBUSY;
  *lock = 1;
  return 0;
}
// A plain store, unlike all other ways to let go of a lock: it waits in the store buffer.
MEMFENCE_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) {
  MEMFENCE_UNLESS_EXPLORED(pthread_spin_unlock, lock);
  world.settle();
  world.changed();
  auto* word = const_cast<int*>(lock);
  Wish wish = world.wish_for(word, kSpinLock, "pthread_spin_unlock", PC, nullptr);
  wish.role = Role::Gives;
  wish.kind = AccessKind::Store;
  world.stop(wish);
  require_spin_lock(lock, PC);
  ++world.me().releases;
  if (world.simulates && wish.number >= 0)
    world.buffer_store({word, sizeof(*word)}, wish.number, 0);
  else
    *word = 0;
  return 0;
}
