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
inline int my_mark() { return world.me().id + 1; }

}  // namespace memfence::running
