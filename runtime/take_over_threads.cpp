// Threads and mutexes of the program. A mutex keeps its state where libc keeps it, so that it is reset with all memory.
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "accesses.hpp"
#include "graph_stops.hpp"
#include "mutex.hpp"
#include "pages.hpp"
#include "real.hpp"

using namespace memfence::running;

namespace {

constexpr unsigned long kHandle = 0x4d46000000;

pthread_t handle_of(int id) { return kHandle + static_cast<unsigned long>(id); }
Fiber* fiber_of(pthread_t handle) {
  const auto id = static_cast<long>(handle) - static_cast<long>(kHandle);
  return id >= 0 && id < world.known_threads() ? &world.fiber(static_cast<int>(id)) : nullptr;
}

bool is_over(const Fiber& me) { return static_cast<const Fiber*>(me.wish.object)->state == Fiber::State::Done; }

void fail_if_detached(const Fiber& other, void* pc) {
  if (other.detached) world.fail(Finding::Misuse, "pthread_join of a thread that was detached", pc);
}

// Locks within libraries are free whenever a thread stops, so that they are no steps.
bool is_internal(const Mutex& mutex, const void* pc) { return mutex.owner == 0 && !is_program_code(pc); }

}  // namespace

#define PC __builtin_return_address(0)

namespace memfence::running {

// The new thread finds its number where its creator does.
void create_thread(pthread_t* into, void* (*start)(void*), void* argument, bool detached, void* pc) {
  const int id = world.next_thread(pc);
  store_for_program(into, handle_of(id), pc);
  world.create(start, argument, detached, pc);
  if (world.runs_tests && world.me().id == 0) world.synchronise(&world.fiber(id), kExit, "waits for the test", pc, is_over);
}

int join_thread(pthread_t thread, void** result, void* pc) {
  Fiber* other = fiber_of(thread);
  if (other == nullptr || other->state == Fiber::State::Unborn)
    world.fail(Finding::Misuse, "pthread_join of something that is no thread", pc);
  if (other == &world.me()) world.fail(Finding::Misuse, "pthread_join of a thread by itself", pc);
  fail_if_detached(*other, pc);
  world.synchronise(other, kExit, "pthread_join", pc, is_over, Role::Looks);
  fail_if_detached(*other, pc);
  if (!other->joined) world.joined(*other);  // a second join returns at once
  if (result != nullptr) store_for_program(result, other->result, pc);
  return 0;
}

void detach_thread(pthread_t thread, void* pc) {
  Fiber* other = fiber_of(thread);
  if (other == nullptr || other->state == Fiber::State::Unborn)
    world.fail(Finding::Misuse, "pthread_detach of something that is no thread", pc);
  if (other->joined || other->detached)
    world.fail(Finding::Misuse, "pthread_detach of a thread that was joined or detached", pc);
  other->detached = true;
}

void* site_of(void** frame) {
  void** const end = reinterpret_cast<void**>(world.me().stack + world.me().stack_size);
  for (void** at = frame + kReturnAddress; at < end; ++at)
    if (is_program_code(*at)) return *at;
  return frame[kReturnAddress];
}

pthread_t this_thread() { return handle_of(world.me().id); }

void make_mutex(pthread_mutex_t* mutex, int kind) {
  __builtin_memset(mutex, 0, sizeof(*mutex));
  mutex_of(mutex).kind = kind;
  world.initialised(mutex, kMutex, nullptr);
}

int destroy_mutex(pthread_mutex_t* mutex, void* pc) {
  Mutex& m = mutex_of(mutex);
  return destroy(m.kind, mutex, kMutex, "pthread_mutex_destroy", "mutex", pc, [&] { return m.owner != 0; });
}

int lock_mutex(pthread_mutex_t* mutex, void* pc) {
  require_mutex(mutex, pc);
  Mutex& m = mutex_of(mutex);
  if (m.owner == my_mark() && m.is_recursive()) {
    ++m.count;
    return 0;
  }
  if (m.owner == my_mark() && m.checks()) return EDEADLK;
  if (!is_internal(m, pc)) world.synchronise(mutex, kMutex, "pthread_mutex_lock", pc, is_free, Role::Takes);
  require_mutex(mutex, pc);
  take(mutex);
  return 0;
}

int try_mutex(pthread_mutex_t* mutex, void* pc) {
  require_mutex(mutex, pc);
  Mutex& m = mutex_of(mutex);
  if (m.owner == my_mark() && m.is_recursive()) {
    ++m.count;
    return 0;
  }
  world.cells.learned |= world.guards.tried(mutex);
  if (!is_internal(m, pc)) world.try_to_take(mutex, kMutex, "pthread_mutex_trylock", pc, is_free);
  require_mutex(mutex, pc);
  if (m.owner != 0) return EBUSY;
  take(mutex);
  return 0;
}

int unlock_mutex(pthread_mutex_t* mutex, void* pc) {
  require_mutex(mutex, pc);
  Mutex& m = mutex_of(mutex);
  if (m.owner != my_mark()) {
    if (m.checks() || m.is_recursive()) return EPERM;
    world.fail(Finding::Misuse, "pthread_mutex_unlock of a mutex that the thread does not hold", pc);
  }
  if (m.count > 1) {
    --m.count;
    return 0;
  }
  if (is_program_code(pc)) {
    world.synchronise(mutex, kMutex, "pthread_mutex_unlock", pc, nullptr, Role::Gives);
    require_mutex(mutex, pc);
  }
  release(mutex);
  return 0;
}

}  // namespace memfence::running

MEMFENCE_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  MEMFENCE_UNLESS_EXPLORED(pthread_create, thread, attributes, start, argument);
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
  create_thread(thread, start, argument, state == PTHREAD_CREATE_DETACHED, PC);
  return 0;
}
MEMFENCE_EXPORT int pthread_join(pthread_t thread, void** result) {
  MEMFENCE_UNLESS_EXPLORED(pthread_join, thread, result);
  return join_thread(thread, result, PC);
}
MEMFENCE_EXPORT int pthread_detach(pthread_t thread) {
  MEMFENCE_UNLESS_EXPLORED(pthread_detach, thread);
  detach_thread(thread, PC);
  return 0;
}
MEMFENCE_EXPORT pthread_t pthread_self() {
  MEMFENCE_UNLESS_EXPLORED(pthread_self);
  return this_thread();
}
MEMFENCE_EXPORT void pthread_exit(void* result) {
  if (!world.in_program) MEMFENCE_REAL(pthread_exit, result);
  exit_thread(result, PC);
}
MEMFENCE_EXPORT int pthread_setname_np(pthread_t thread, const char* name) {
  MEMFENCE_UNLESS_EXPLORED(pthread_setname_np, thread, name);
  return 0;
}
MEMFENCE_EXPORT int pthread_setaffinity_np(pthread_t thread, std::size_t size, const cpu_set_t* set) {
  MEMFENCE_UNLESS_EXPLORED(pthread_setaffinity_np, thread, size, set);
  return 0;
}

MEMFENCE_EXPORT int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) {
  MEMFENCE_UNLESS_EXPLORED(pthread_mutex_init, mutex, attributes);
  int kind = PTHREAD_MUTEX_NORMAL;
  if (attributes != nullptr) pthread_mutexattr_gettype(attributes, &kind);
  make_mutex(mutex, kind);
  return 0;
}
MEMFENCE_EXPORT int pthread_mutex_destroy(pthread_mutex_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(pthread_mutex_destroy, mutex);
  return destroy_mutex(mutex, PC);
}
MEMFENCE_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(pthread_mutex_lock, mutex);
  return lock_mutex(mutex, PC);
}
MEMFENCE_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(pthread_mutex_trylock, mutex);
  return try_mutex(mutex, PC);
}
// It may run out of time whenever the mutex is taken.
MEMFENCE_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_mutex_timedlock, mutex, limit);
  return try_mutex(mutex, PC) == 0 ? 0 : ETIMEDOUT;
}
MEMFENCE_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(pthread_mutex_clocklock, mutex, clock, limit);
  return try_mutex(mutex, PC) == 0 ? 0 : ETIMEDOUT;
}
MEMFENCE_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(pthread_mutex_unlock, mutex);
  return unlock_mutex(mutex, PC);
}

// --- Once, and statics of functions ------------------------------------------------------------------------------------------

namespace {
enum OnceState : int { kFresh = 0, kBusy = 1, kOver = 2 };
bool is_settled(const Fiber& me) { return *static_cast<int*>(me.wish.object) != kBusy; }
bool is_fresh(const Fiber& me) { return *static_cast<int*>(me.wish.object) == kFresh; }
bool is_guard_fresh(const Fiber& me) {
  return static_cast<char*>(me.wish.object)[1] == kFresh && static_cast<char*>(me.wish.object)[0] == 0;
}
bool is_guard_settled(const Fiber& me) { return static_cast<char*>(me.wish.object)[1] != kBusy; }
}  // namespace

// Once it is over, libc only looks: no fence.
int memfence::running::call_once_only(pthread_once_t* once, void (*function)(), void* pc) {
  if (*once == kOver && !is_program_code(pc)) return 0;
  if (!world.makes_graphs) {
    world.look_at(once, kOnce, "pthread_once", pc);
    if (*once == kOver) return 0;
  }
  world.begin_once(once, kOnce, "pthread_once", pc, is_settled, is_fresh);
  if (*once == kOver) return 0;
  *once = kBusy;
  try {
    function();
  } catch (...) {
    *once = kFresh;
    throw;
  }
  world.synchronise(once, kOnce, "pthread_once", pc);
  *once = kOver;
  return 0;
}
MEMFENCE_EXPORT int pthread_once(pthread_once_t* once, void (*function)()) {
  MEMFENCE_UNLESS_EXPLORED(pthread_once, once, function);
  return call_once_only(once, function, PC);
}

// The first byte says that the object is there, as the ABI wants it; the second is ours.
MEMFENCE_EXPORT int __cxa_guard_acquire(char* guard) {
  if (!world.in_program) {
    static const auto real = reinterpret_cast<int (*)(char*)>(dlsym(RTLD_NEXT, "__cxa_guard_acquire"));
    return real(guard);
  }
  world.begin_once(guard, kGuard, "static initialisation", PC, is_guard_settled, is_guard_fresh);
  if (guard[0] != 0) return 0;
  guard[1] = kBusy;
  return 1;
}
MEMFENCE_EXPORT void __cxa_guard_release(char* guard) {
  if (!world.in_program) {
    static const auto real = reinterpret_cast<void (*)(char*)>(dlsym(RTLD_NEXT, "__cxa_guard_release"));
    return real(guard);
  }
  world.synchronise(guard, kGuard, "static initialisation", PC);
  guard[0] = 1;
  guard[1] = kFresh;
  if (!world.makes_graphs) return;
  world.settle_object();
  void* frame[kReturnAddress + 1] = {};
  frame[kReturnAddress] = PC;
  graph_store(guard, 1, 1, __ATOMIC_RELEASE, frame);  // for the program, which looks before it calls
}
MEMFENCE_EXPORT void __cxa_guard_abort(char* guard) {
  if (!world.in_program) {
    static const auto real = reinterpret_cast<void (*)(char*)>(dlsym(RTLD_NEXT, "__cxa_guard_abort"));
    return real(guard);
  }
  world.synchronise(guard, kGuard, "static initialisation", PC);
  guard[1] = kFresh;
}
