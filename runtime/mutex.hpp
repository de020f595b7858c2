// A mutex of the program, as libc lays it out: the owner behind the lock word and the count.
#pragma once

#include <pthread.h>

#include "world.hpp"

namespace memfence::running {

struct Mutex {
  int lock, count, owner;
  unsigned users;
  int kind;
  bool is_recursive() const { return (kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP; }
  bool checks() const { return (kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP; }
};

inline Mutex& mutex_of(pthread_mutex_t* mutex) { return *reinterpret_cast<Mutex*>(mutex); }
inline bool is_free(const Fiber& me) { return static_cast<Mutex*>(me.wish.object)->owner == 0; }
// What pthread and the threads of C11 have in common; `pc`: who called.
pthread_t create_thread(void* (*start)(void*), void* argument, bool detached, void* pc);
int join_thread(pthread_t thread, void** result, void* pc);
void detach_thread(pthread_t thread);
[[noreturn]] void exit_thread(void* result, void* pc);
pthread_t this_thread();
void make_mutex(pthread_mutex_t* mutex, int kind);
int lock_mutex(pthread_mutex_t* mutex, void* pc);
int try_mutex(pthread_mutex_t* mutex, void* pc);
int unlock_mutex(pthread_mutex_t* mutex, void* pc);
int call_once_only(pthread_once_t* once, void (*function)(), void* pc);
int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, const char* name, void* pc, const timespec* limit);
void signal_condition(pthread_cond_t* condition, int count, const char* name, void* pc);

inline int my_mark() { return world.me().id + 1; }

}  // namespace memfence::running
