// A mutex of the program, as libc lays it out: the owner behind the lock word and the count.
#pragma once

#include <pthread.h>

#include "accesses.hpp"
#include "destroyed.hpp"
#include "world.hpp"

extern "C" void** memfence_frame;

namespace memfence::running {

struct Mutex {
  int lock, count, owner;
  unsigned users;
  int kind;
  bool is_recursive() const { return (kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP; }
  bool checks() const { return (kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP; }
};

// Whether it was destroyed: in its kind.
inline void require_mutex(pthread_mutex_t* mutex, void* pc) {
  require_alive(reinterpret_cast<Mutex*>(mutex)->kind, "mutex", pc);
}
int destroy_mutex(pthread_mutex_t* mutex, void* pc);
int destroy_condition(pthread_cond_t* condition, void* pc);

inline Mutex& mutex_of(pthread_mutex_t* mutex) { return *reinterpret_cast<Mutex*>(mutex); }
inline bool is_free(const Fiber& me) { return static_cast<Mutex*>(me.wish.object)->owner == 0; }
// What pthread and the threads of C11 have in common; `pc`: who called.
void create_thread(pthread_t* into, void* (*start)(void*), void* argument, bool detached, void* pc);
int join_thread(pthread_t thread, void** result, void* pc);
void detach_thread(pthread_t thread, void* pc);
[[noreturn]] void exit_thread(void* result, void* pc);
pthread_t this_thread();
void make_mutex(pthread_mutex_t* mutex, int kind);
int lock_mutex(pthread_mutex_t* mutex, void* pc);
int try_mutex(pthread_mutex_t* mutex, void* pc);
int unlock_mutex(pthread_mutex_t* mutex, void* pc);
int call_once_only(pthread_once_t* once, void (*function)(), void* pc);
int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, const char* name, void** frame, const timespec* limit);
void signal_condition(pthread_cond_t* condition, int count, const char* name, void* pc);

inline int my_mark() { return world.me().id + 1; }

// The mutex is the thread's from now on, or no longer.
inline void take(pthread_mutex_t* mutex) {
  mutex_of(mutex).owner = my_mark();
  mutex_of(mutex).count = 1;
  world.me().held.push_back(mutex);
  world.me().unchanged_since = mutex;
}
inline void release(pthread_mutex_t* mutex) {
  mutex_of(mutex).owner = mutex_of(mutex).count = 0;
  std::erase(world.me().held, mutex);
}

// Where the program itself waits, perhaps by way of a library.
void* site_of(void** frame);

}  // namespace memfence::running
