// The threads of C11, which libc keeps in the same objects as those of pthread.
#include <errno.h>
#include <threads.h>
#include <time.h>

#include "mutex.hpp"
#include "real.hpp"

using namespace memfence::running;

#define PC __builtin_return_address(0)

namespace {

pthread_mutex_t* mutex_in(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* condition_in(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int as_thrd(int error) {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    default: return thrd_error;
  }
}

}  // namespace

MEMFENCE_EXPORT int thrd_create(thrd_t* thread, thrd_start_t start, void* argument) {
  MEMFENCE_UNLESS_EXPLORED(thrd_create, thread, start, argument);
  create_thread(thread, reinterpret_cast<void* (*)(void*)>(start), argument, false, PC);
  return thrd_success;
}
MEMFENCE_EXPORT int thrd_join(thrd_t thread, int* result) {
  MEMFENCE_UNLESS_EXPLORED(thrd_join, thread, result);
  void* value = nullptr;
  const int error = join_thread(thread, &value, PC);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<long>(value));
  return as_thrd(error);
}
MEMFENCE_EXPORT int thrd_detach(thrd_t thread) {
  MEMFENCE_UNLESS_EXPLORED(thrd_detach, thread);
  detach_thread(thread, PC);
  return thrd_success;
}
MEMFENCE_EXPORT void thrd_exit(int result) {
  if (!world.in_program) MEMFENCE_REAL(thrd_exit, result);
  exit_thread(reinterpret_cast<void*>(static_cast<long>(result)), PC);
}
MEMFENCE_EXPORT thrd_t thrd_current() {
  MEMFENCE_UNLESS_EXPLORED(thrd_current);
  return this_thread();
}
MEMFENCE_EXPORT void thrd_yield() {
  if (!world.in_program) return MEMFENCE_REAL(thrd_yield);
  world.settle();
}
MEMFENCE_EXPORT int thrd_sleep(const timespec* length, timespec* left) {
  MEMFENCE_UNLESS_EXPLORED(thrd_sleep, length, left);
  return nanosleep(length, left);
}

MEMFENCE_EXPORT int mtx_init(mtx_t* mutex, int kind) {
  MEMFENCE_UNLESS_EXPLORED(mtx_init, mutex, kind);
  make_mutex(mutex_in(mutex), (kind & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE_NP : PTHREAD_MUTEX_NORMAL);
  return thrd_success;
}
MEMFENCE_EXPORT void mtx_destroy(mtx_t* mutex) {
  if (!world.in_program) return MEMFENCE_REAL(mtx_destroy, mutex);
  destroy_mutex(mutex_in(mutex), PC);
}
MEMFENCE_EXPORT int mtx_lock(mtx_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(mtx_lock, mutex);
  return as_thrd(lock_mutex(mutex_in(mutex), PC));
}
MEMFENCE_EXPORT int mtx_trylock(mtx_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(mtx_trylock, mutex);
  return as_thrd(try_mutex(mutex_in(mutex), PC));
}
MEMFENCE_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(mtx_timedlock, mutex, limit);
  return try_mutex(mutex_in(mutex), PC) == 0 ? thrd_success : thrd_timedout;
}
MEMFENCE_EXPORT int mtx_unlock(mtx_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(mtx_unlock, mutex);
  return as_thrd(unlock_mutex(mutex_in(mutex), PC));
}

MEMFENCE_EXPORT int cnd_init(cnd_t* condition) {
  MEMFENCE_UNLESS_EXPLORED(cnd_init, condition);
  __builtin_memset(condition, 0, sizeof(*condition));
  return thrd_success;
}
MEMFENCE_EXPORT void cnd_destroy(cnd_t* condition) {
  if (!world.in_program) return MEMFENCE_REAL(cnd_destroy, condition);
  destroy_condition(condition_in(condition), PC);
}
// These two are entered by way of hook_entries.cpp, which keeps the registers of the caller.
MEMFENCE_BODY int memfence_cnd_wait(cnd_t* condition, mtx_t* mutex) {
  MEMFENCE_UNLESS_EXPLORED(cnd_wait, condition, mutex);
  return as_thrd(wait_condition(condition_in(condition), mutex_in(mutex), "cnd_wait", memfence_frame, nullptr));
}
MEMFENCE_BODY int memfence_cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* limit) {
  MEMFENCE_UNLESS_EXPLORED(cnd_timedwait, condition, mutex, limit);
  return as_thrd(wait_condition(condition_in(condition), mutex_in(mutex), "cnd_timedwait", memfence_frame, limit));
}
MEMFENCE_EXPORT int cnd_signal(cnd_t* condition) {
  MEMFENCE_UNLESS_EXPLORED(cnd_signal, condition);
  signal_condition(condition_in(condition), 1, "cnd_signal", PC);
  return thrd_success;
}
MEMFENCE_EXPORT int cnd_broadcast(cnd_t* condition) {
  MEMFENCE_UNLESS_EXPLORED(cnd_broadcast, condition);
  signal_condition(condition_in(condition), kMostFibers, "cnd_broadcast", PC);
  return thrd_success;
}

MEMFENCE_EXPORT void call_once(once_flag* once, void (*function)()) {
  if (!world.in_program) return MEMFENCE_REAL(call_once, once, function);
  call_once_only(reinterpret_cast<pthread_once_t*>(once), function, PC);
}
MEMFENCE_EXPORT void* tss_get(tss_t key) {
  MEMFENCE_UNLESS_EXPLORED(tss_get, key);
  return pthread_getspecific(key);
}
MEMFENCE_EXPORT int tss_set(tss_t key, void* value) {
  MEMFENCE_UNLESS_EXPLORED(tss_set, key, value);
  return as_thrd(pthread_setspecific(key, value));
}
