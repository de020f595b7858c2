/* What a fence costs between a store and a load, in a loop: nanoseconds a turn, one line a kind and repetition. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define MFENCE __asm__ __volatile__("mfence" ::: "memory")
#define SFENCE __asm__ __volatile__("sfence" ::: "memory")
#define LOCKED __asm__ __volatile__("lock; orl $0, (%%rsp)" ::: "memory", "cc")
#else
#define MFENCE __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define SFENCE __atomic_thread_fence(__ATOMIC_RELEASE)
#define LOCKED __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

enum { TURNS = 400000, REPETITIONS = 15 };

static int64_t written __attribute__((aligned(64))), read_from __attribute__((aligned(64)));

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

#define MEASURE(name, store, fence)                                             \
  for (int repetition = 0; repetition < REPETITIONS; repetition++) {            \
    int64_t sum = 0;                                                            \
    const double from = now();                                                  \
    for (int turn = 0; turn < TURNS; turn++) {                                  \
      store;                                                                    \
      fence;                                                                    \
      sum += __atomic_load_n(&read_from, __ATOMIC_RELAXED);                     \
    }                                                                           \
    printf("%s %.4f %lld\n", name, (now() - from) / TURNS, (long long)sum);     \
  }
#define PLAIN __atomic_store_n(&written, turn, __ATOMIC_RELAXED)

int main(void) {
  MEASURE("warm-up", PLAIN, (void)0)
  MEASURE("nothing", PLAIN, (void)0)
  MEASURE("mfence", PLAIN, MFENCE)
  MEASURE("lock-or", PLAIN, LOCKED)
  MEASURE("xchg", __atomic_exchange_n(&written, turn, __ATOMIC_SEQ_CST), (void)0)
  MEASURE("sfence", PLAIN, SFENCE)
  MEASURE("seq_cst-store", __atomic_store_n(&written, turn, __ATOMIC_SEQ_CST), (void)0)
  return 0;
}
