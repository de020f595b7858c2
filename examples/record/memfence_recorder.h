/* Records one sequentially consistent execution of a program for `memfence monitor`: C11 or C++11, gcc or clang, POSIX.
 *
 * Write the accesses that threads share with the macros below, run the program, and ask about what was recorded:
 *
 *     cc -DMEMFENCE_RECORD -pthread program.c -o program
 *     MEMFENCE_TRACE=run.jsonl ./program && memfence monitor run.jsonl
 *
 * Each access takes place, and is written down, while one mutex is held: the file has the order in which memory saw
 * them. Without -DMEMFENCE_RECORD the macros are the accesses themselves, at no cost.
 *
 * How x86 carries out an access decides how it is recorded: a seq_cst store is an `xchg`, which waits for the store
 * buffer; weaker stores go through it; read-modify-writes never do; only the seq_cst fence is an instruction.
 */
#ifndef MEMFENCE_RECORDER_H
#define MEMFENCE_RECORDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
#include <atomic>
#define MEMFENCE_STD std::
#define MEMFENCE_SEQ_CST std::memory_order_seq_cst
#else
#include <stdatomic.h>
#define MEMFENCE_STD
#define MEMFENCE_SEQ_CST memory_order_seq_cst
#endif

#ifndef MEMFENCE_RECORD

#define MEMFENCE_NAME(object) ((void)0)
#define MEMFENCE_LOAD(object, order) (MEMFENCE_STD atomic_load_explicit((object), (order)))
#define MEMFENCE_STORE(object, value, order) (MEMFENCE_STD atomic_store_explicit((object), (value), (order)))
#define MEMFENCE_EXCHANGE(object, value) (MEMFENCE_STD atomic_exchange((object), (value)))
#define MEMFENCE_FETCH_ADD(object, value) (MEMFENCE_STD atomic_fetch_add((object), (value)))
#define MEMFENCE_COMPARE_EXCHANGE(object, expected, value) \
  (MEMFENCE_STD atomic_compare_exchange_strong((object), (expected), (value)))
#define MEMFENCE_FENCE(order) (MEMFENCE_STD atomic_thread_fence(order))
#define MEMFENCE_READ(variable) (variable)
#define MEMFENCE_WRITE(variable, value) ((void)((variable) = (value)))
#define MEMFENCE_LOCK(mutex) ((void)pthread_mutex_lock(mutex))
#define MEMFENCE_UNLOCK(mutex) ((void)pthread_mutex_unlock(mutex))
#define MEMFENCE_WAIT(condition, mutex) ((void)pthread_cond_wait((condition), (mutex)))
#define MEMFENCE_SIGNAL(condition) ((void)pthread_cond_signal(condition))
#define MEMFENCE_BROADCAST(condition) ((void)pthread_cond_broadcast(condition))
#define MEMFENCE_CREATE(thread, function, argument) (pthread_create((thread), NULL, (function), (argument)))
#define MEMFENCE_JOIN(thread, result) (pthread_join((thread), (result)))

#else

/* One recorder per process, whichever of its files include this one. */
#define MEMFENCE_SHARED __attribute__((weak, unused))
#define MEMFENCE_PLACE __FILE__, __LINE__
#define MEMFENCE_MOST_NAMES 256

#ifdef __cplusplus
extern "C" {
#endif

struct memfence_named {
  const volatile void* object;
  const char* name;
};
MEMFENCE_SHARED pthread_mutex_t memfence_mutex = PTHREAD_MUTEX_INITIALIZER;
MEMFENCE_SHARED FILE* memfence_trace = NULL;
MEMFENCE_SHARED int memfence_threads = 0;
MEMFENCE_SHARED int memfence_created = 0;
MEMFENCE_SHARED int memfence_names = 0;
MEMFENCE_SHARED struct memfence_named memfence_named[MEMFENCE_MOST_NAMES] = {{NULL, NULL}};
MEMFENCE_SHARED __thread int memfence_thread = 0; /* from 1 on; 0: nothing recorded yet */
MEMFENCE_SHARED __thread int memfence_child = 0;  /* which created thread this one is */

MEMFENCE_SHARED void memfence_begin(void) {
  pthread_mutex_lock(&memfence_mutex);
  if (memfence_trace == NULL) {
    const char* path = getenv("MEMFENCE_TRACE");
    memfence_trace = fopen(path == NULL ? "memfence-trace.jsonl" : path, "w");
    if (memfence_trace == NULL) {
      perror("memfence_recorder.h: MEMFENCE_TRACE");
      abort();
    }
    setvbuf(memfence_trace, NULL, _IOLBF, BUFSIZ); /* what was recorded is there if the program crashes */
  }
  if (memfence_thread == 0) memfence_thread = ++memfence_threads;
}

MEMFENCE_SHARED void memfence_text(const char* text) {
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') fputc('\\', memfence_trace);
    fputc(*text, memfence_trace);
  }
}

MEMFENCE_SHARED void memfence_object(const volatile void* object) {
  for (int number = 0; number < memfence_names; ++number)
    if (memfence_named[number].object == object) {
      memfence_text(memfence_named[number].name);
      return;
    }
  fprintf(memfence_trace, "0x%llx", (unsigned long long)(uintptr_t)object);
}

MEMFENCE_SHARED void memfence_access(const char* op, const volatile void* object, long long value, const char* file, int line) {
  fprintf(memfence_trace, "{\"op\":\"%s\",\"thread\":%d,\"addr\":\"", op, memfence_thread);
  memfence_object(object);
  fprintf(memfence_trace, "\",\"value\":%lld,\"loc\":\"", value);
  memfence_text(file);
  fprintf(memfence_trace, ":%d\"}\n", line);
}

MEMFENCE_SHARED void memfence_end(void) { pthread_mutex_unlock(&memfence_mutex); }

MEMFENCE_SHARED void memfence_fence(const char* file, int line) {
  memfence_begin();
  fprintf(memfence_trace, "{\"op\":\"fence\",\"thread\":%d,\"loc\":\"", memfence_thread);
  memfence_text(file);
  fprintf(memfence_trace, ":%d\"}\n", line);
  memfence_end();
}

/* What orders threads without being memory of the program: an interlocked access of a name of its own. */
MEMFENCE_SHARED void memfence_meet(const char* what, unsigned long long which, const char* file, int line) {
  memfence_begin();
  fprintf(memfence_trace, "{\"op\":\"il\",\"thread\":%d,\"addr\":\"%s %llx\",\"loc\":\"", memfence_thread, what, which);
  memfence_text(file);
  fprintf(memfence_trace, ":%d\"}\n", line);
  memfence_end();
}

MEMFENCE_SHARED void memfence_name(const volatile void* object, const char* name) {
  memfence_begin();
  if (memfence_names < MEMFENCE_MOST_NAMES) {
    memfence_named[memfence_names].object = object;
    memfence_named[memfence_names++].name = name[0] == '&' ? name + 1 : name;
  }
  memfence_end();
}

/* Threads by their pthread_t, for joins; an entry is free again once it was joined. */
struct memfence_running {
  pthread_t id;
  int child; /* 0: nobody */
};
MEMFENCE_SHARED struct memfence_running memfence_running[MEMFENCE_MOST_NAMES];

MEMFENCE_SHARED int memfence_new_child(void) {
  memfence_begin();
  const int child = ++memfence_created;
  memfence_end();
  return child;
}

MEMFENCE_SHARED void memfence_child_begins(int child) {
  memfence_begin();
  for (int place = 0; place < MEMFENCE_MOST_NAMES; ++place)
    if (memfence_running[place].child == 0) {
      memfence_running[place].id = pthread_self();
      memfence_running[place].child = child;
      break;
    }
  memfence_end();
  memfence_meet("thread", (unsigned long long)child, MEMFENCE_PLACE);
}

MEMFENCE_SHARED void memfence_child_ends(void* child) {
  memfence_meet("thread", (unsigned long long)*(int*)child, MEMFENCE_PLACE);
}

MEMFENCE_SHARED void memfence_joined(pthread_t thread, const char* file, int line) {
  int child = 0;
  memfence_begin();
  for (int place = 0; place < MEMFENCE_MOST_NAMES; ++place)
    if (memfence_running[place].child != 0 && pthread_equal(memfence_running[place].id, thread)) {
      child = memfence_running[place].child;
      memfence_running[place].child = 0;
    }
  memfence_end();
  if (child != 0) memfence_meet("thread", (unsigned long long)child, file, line);
}

struct memfence_start {
  void* (*function)(void*);
  void* argument;
  int child;
};

MEMFENCE_SHARED void* memfence_run(void* given) {
  struct memfence_start start = *(struct memfence_start*)given;
  void* result;
  free(given);
  memfence_child_begins(start.child);
  pthread_cleanup_push(memfence_child_ends, &start.child); /* also where it ends by pthread_exit */
  result = start.function(start.argument);
  pthread_cleanup_pop(1);
  return result;
}

MEMFENCE_SHARED int memfence_create(pthread_t* thread, void* (*function)(void*), void* argument, const char* file, int line) {
  struct memfence_start* start = (struct memfence_start*)malloc(sizeof *start);
  if (start == NULL) return -1;
  start->child = memfence_new_child();
  start->function = function;
  start->argument = argument;
  memfence_meet("thread", (unsigned long long)start->child, file, line);
  return pthread_create(thread, NULL, memfence_run, start);
}

#ifdef __cplusplus
}
#endif

#define MEMFENCE_VALUE(value) ((long long)(intptr_t)(value))
#define MEMFENCE_ID(object) ((unsigned long long)(uintptr_t)(object))
#define MEMFENCE_TYPE(object) __typeof__(MEMFENCE_STD atomic_load_explicit((object), MEMFENCE_SEQ_CST))

/* Reports say `name` instead of the address. */
#define MEMFENCE_NAME(object) memfence_name((object), #object)
#define MEMFENCE_LOAD(object, order)                                                               \
  __extension__({                                                                                  \
    __typeof__(object) memfence_o = (object);                                                      \
    memfence_begin();                                                                              \
    MEMFENCE_TYPE(memfence_o) memfence_v = MEMFENCE_STD atomic_load_explicit(memfence_o, (order)); \
    memfence_access("ld", memfence_o, MEMFENCE_VALUE(memfence_v), MEMFENCE_PLACE);                 \
    memfence_end();                                                                                \
    memfence_v;                                                                                    \
  })
#define MEMFENCE_STORE(object, value, order)                                                                            \
  __extension__({                                                                                                       \
    __typeof__(object) memfence_o = (object);                                                                           \
    const MEMFENCE_TYPE(memfence_o) memfence_v = (value);                                                               \
    memfence_begin();                                                                                                   \
    MEMFENCE_STD atomic_store_explicit(memfence_o, memfence_v, (order));                                                \
    memfence_access((order) == MEMFENCE_SEQ_CST ? "il" : "st", memfence_o, MEMFENCE_VALUE(memfence_v), MEMFENCE_PLACE); \
    memfence_end();                                                                                                     \
  })
#define MEMFENCE_EXCHANGE(object, value)                                                           \
  __extension__({                                                                                  \
    __typeof__(object) memfence_o = (object);                                                      \
    const MEMFENCE_TYPE(memfence_o) memfence_v = (value);                                          \
    memfence_begin();                                                                              \
    MEMFENCE_TYPE(memfence_o) memfence_old = MEMFENCE_STD atomic_exchange(memfence_o, memfence_v); \
    memfence_access("il", memfence_o, MEMFENCE_VALUE(memfence_v), MEMFENCE_PLACE);                 \
    memfence_end();                                                                                \
    memfence_old;                                                                                  \
  })
#define MEMFENCE_FETCH_ADD(object, value)                                                           \
  __extension__({                                                                                   \
    __typeof__(object) memfence_o = (object);                                                       \
    const __typeof__(value) memfence_v = (value);                                                   \
    memfence_begin();                                                                               \
    MEMFENCE_TYPE(memfence_o) memfence_old = MEMFENCE_STD atomic_fetch_add(memfence_o, memfence_v); \
    const MEMFENCE_TYPE(memfence_o) memfence_new = memfence_old + memfence_v;                       \
    memfence_access("il", memfence_o, MEMFENCE_VALUE(memfence_new), MEMFENCE_PLACE);                \
    memfence_end();                                                                                 \
    memfence_old;                                                                                   \
  })
/* One that fails has read, and is recorded with what it has read. */
#define MEMFENCE_COMPARE_EXCHANGE(object, expected, value)                                                       \
  __extension__({                                                                                                \
    __typeof__(object) memfence_o = (object);                                                                    \
    __typeof__(expected) memfence_e = (expected);                                                                \
    const MEMFENCE_TYPE(memfence_o) memfence_v = (value);                                                        \
    memfence_begin();                                                                                            \
    const bool memfence_done = MEMFENCE_STD atomic_compare_exchange_strong(memfence_o, memfence_e, memfence_v);  \
    memfence_access("il", memfence_o, MEMFENCE_VALUE(memfence_done ? memfence_v : *memfence_e), MEMFENCE_PLACE); \
    memfence_end();                                                                                              \
    memfence_done;                                                                                               \
  })
#define MEMFENCE_FENCE(order)                                        \
  __extension__({                                                    \
    MEMFENCE_STD atomic_thread_fence(order);                         \
    if ((order) == MEMFENCE_SEQ_CST) memfence_fence(MEMFENCE_PLACE); \
  })
/* Plain variables, which only locks keep from racing. */
#define MEMFENCE_READ(variable)                                                     \
  __extension__({                                                                   \
    memfence_begin();                                                               \
    const __typeof__(variable) memfence_v = (variable);                             \
    memfence_access("ld", &(variable), MEMFENCE_VALUE(memfence_v), MEMFENCE_PLACE); \
    memfence_end();                                                                 \
    memfence_v;                                                                     \
  })
#define MEMFENCE_WRITE(variable, value)                                             \
  __extension__({                                                                   \
    const __typeof__(variable) memfence_v = (value);                                \
    memfence_begin();                                                               \
    (variable) = memfence_v;                                                        \
    memfence_access("st", &(variable), MEMFENCE_VALUE(memfence_v), MEMFENCE_PLACE); \
    memfence_end();                                                                 \
  })
/* A lock is recorded once it is held, an unlock before it is given up: so no other order can be written down. */
#define MEMFENCE_LOCK(mutex)                                    \
  __extension__({                                               \
    pthread_mutex_lock(mutex);                                  \
    memfence_meet("mutex", MEMFENCE_ID(mutex), MEMFENCE_PLACE); \
  })
#define MEMFENCE_UNLOCK(mutex)                                  \
  __extension__({                                               \
    memfence_meet("mutex", MEMFENCE_ID(mutex), MEMFENCE_PLACE); \
    pthread_mutex_unlock(mutex);                                \
  })
#define MEMFENCE_WAIT(condition, mutex)                                 \
  __extension__({                                                       \
    memfence_meet("mutex", MEMFENCE_ID(mutex), MEMFENCE_PLACE);         \
    pthread_cond_wait((condition), (mutex));                            \
    memfence_meet("condition", MEMFENCE_ID(condition), MEMFENCE_PLACE); \
    memfence_meet("mutex", MEMFENCE_ID(mutex), MEMFENCE_PLACE);         \
  })
#define MEMFENCE_SIGNAL(condition)                                      \
  __extension__({                                                       \
    memfence_meet("condition", MEMFENCE_ID(condition), MEMFENCE_PLACE); \
    pthread_cond_signal(condition);                                     \
  })
#define MEMFENCE_BROADCAST(condition)                                   \
  __extension__({                                                       \
    memfence_meet("condition", MEMFENCE_ID(condition), MEMFENCE_PLACE); \
    pthread_cond_broadcast(condition);                                  \
  })
#define MEMFENCE_CREATE(thread, function, argument) memfence_create((thread), (function), (argument), MEMFENCE_PLACE)
#define MEMFENCE_JOIN(thread, result)                               \
  __extension__({                                                   \
    const pthread_t memfence_t = (thread);                          \
    const int memfence_failed = pthread_join(memfence_t, (result)); \
    memfence_joined(memfence_t, MEMFENCE_PLACE);                    \
    memfence_failed;                                                \
  })

#endif

#ifdef __cplusplus
#include "memfence_recorder.hpp"
#endif

#endif
