/* @TITLE@
 *
 * Threads run the same few statements on many instances of the variables at once, again and again, and the values at
 * the end are counted. Built with: cc -O2 -pthread. Run with: ./a.out SECONDS [SEED [RUNS [plain]]]
 * One line a result: `strategy NAME ROUNDS WANTED SECONDS` and `outcome COUNT WANTED VALUE...`.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = @THREADS@, VARIABLES = @VARIABLES@, OBSERVED = @OBSERVED@, INSTANCES = 2048, MOST_STRIDE = 32, MOST_OUTCOMES = 4096 };

typedef int64_t value;
__extension__ typedef __int128 wide;  /* what is computed with values of 64 bits */

#if defined(__x86_64__) || defined(__i386__)
#define MFENCE() __asm__ __volatile__("mfence" ::: "memory")
#define SFENCE() __asm__ __volatile__("sfence" ::: "memory")
#define PAUSE() __asm__ __volatile__("pause")
#else
#define MFENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define SFENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#define PAUSE() ((void)0)
#endif

/* Single instructions on memory; nothing here orders one access against another. */
static inline value load(const value *from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }
static inline int __attribute__((unused)) replace_in(value *cell, value *old, value what) {
  return __atomic_compare_exchange_n(cell, old, what, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
static inline void store(value *to, value what) { __atomic_store_n(to, what, __ATOMIC_RELAXED); }

/* How a round goes: the distance between instances, who goes through them in which order, whether threads wait for each
 * other before every instance, how long at random, and whether lines are written to before. */
struct strategy {
  const char *name;
  unsigned stride, shuffled, together, delay, warm;
};

static const struct strategy strategies[] = {
    {"a line each", 8, 0, 0, 0, 0},
    {"packed", 1, 0, 0, 0, 0},
    {"in step", 8, 0, 1, 0, 0},
    {"in step with delays", 8, 0, 1, 16, 1},
    {"shuffled", 16, 1, 0, 0, 0},
    {"shuffled in step", 16, 1, 1, 4, 1},
    {"far apart in step", 32, 0, 1, 4, 0},
};
enum { STRATEGIES = sizeof strategies / sizeof strategies[0] };

static value *memory[VARIABLES > 0 ? VARIABLES : 1];
static const value first_value[VARIABLES > 0 ? VARIABLES : 1] = {@FIRST@};
static value observed[OBSERVED > 0 ? OBSERVED : 1][INSTANCES];
static unsigned char ended[THREADS][INSTANCES];
static unsigned order[THREADS][INSTANCES];
static unsigned arrived[INSTANCES];
static const struct strategy *now;
static int over;
static unsigned long seed = 1;
static unsigned patience = 2000; /* tries before a thread lets others run */
static unsigned used = INSTANCES; /* instances a round: few where threads have to take turns */

#define AT(variable, i) (memory[variable] + (size_t)(i) * now->stride)

static unsigned char guards[INSTANCES];

static void __attribute__((unused)) take_guard(unsigned i) {
  while (__atomic_exchange_n(&guards[i], 1, __ATOMIC_SEQ_CST)) PAUSE();
}

static void __attribute__((unused)) give_guard(unsigned i) { __atomic_exchange_n(&guards[i], 0, __ATOMIC_SEQ_CST); }
@LOCKED@
@PROCESSES@

/* Values at the end of an instance that every thread has come to the end of. */
static void observe(unsigned i) {
@OBSERVE@
  (void)i;
}

static int is_wanted(const value *seen) {
  (void)seen;
  return @WANTED@;
}

struct outcome {
  value seen[OBSERVED > 0 ? OBSERVED : 1];
  unsigned long count;
};

static struct outcome outcomes[MOST_OUTCOMES];
static unsigned known;
static unsigned long dropped;

static unsigned long count_round(unsigned long *complete) {
  unsigned long wanted = 0;
  for (unsigned i = 0; i < used; i++) {
    int all = 1;
    for (unsigned t = 0; t < THREADS; t++) all &= ended[t][i];
    if (!all) continue;
    observe(i);
    value seen[OBSERVED > 0 ? OBSERVED : 1] = {0};
    for (unsigned k = 0; k < OBSERVED; k++) seen[k] = observed[k][i];
    unsigned at = 0;
    while (at < known && memcmp(outcomes[at].seen, seen, sizeof seen) != 0) at++;
    if (at == MOST_OUTCOMES) {
      dropped++;
      continue;
    }
    if (at == known) memcpy(outcomes[known++].seen, seen, sizeof seen);
    outcomes[at].count++;
    wanted += (unsigned long)is_wanted(seen);
    ++*complete;
  }
  return wanted;
}

static unsigned long next_random(unsigned long *state) {
  *state = *state * 6364136223846793005UL + 1442695040888963407UL;
  return *state >> 33;
}

static void prepare_round(unsigned long *state) {
  for (unsigned v = 0; v < VARIABLES; v++)
    for (unsigned i = 0; i < used; i++) *AT(v, i) = first_value[v];
  memset(ended, 0, sizeof ended);
  memset(arrived, 0, sizeof arrived);
  for (unsigned t = 0; t < THREADS; t++) {
    for (unsigned i = 0; i < used; i++) order[t][i] = i;
    for (unsigned i = used - 1; now->shuffled && i > 0; i--) {
      const unsigned j = (unsigned)(next_random(state) % (i + 1));
      const unsigned kept = order[t][i];
      order[t][i] = order[t][j];
      order[t][j] = kept;
    }
    if (now->together && now->shuffled) memcpy(order[t], order[0], sizeof order[t]);
  }
}

static void wait_for_others(unsigned i) {
  __atomic_add_fetch(&arrived[i], 1, __ATOMIC_SEQ_CST);
  for (unsigned spins = 0; __atomic_load_n(&arrived[i], __ATOMIC_RELAXED) < THREADS; spins++) {
    if (spins > patience) sched_yield();
    PAUSE();
  }
}

static pthread_barrier_t start, stop;

static void *work(void *argument) {
  const unsigned me = (unsigned)(uintptr_t)argument;
  unsigned long state = seed * 1000003UL + me;
  for (;;) {
    pthread_barrier_wait(&start);
    if (over) return NULL;
    for (unsigned n = 0; n < used; n++) {
      const unsigned i = order[me][n];
      if (now->warm)
        for (unsigned v = 0; v < VARIABLES; v++)
          if (v % THREADS == me) __builtin_prefetch(AT(v, i), 1);
      if (now->together) wait_for_others(i);
      for (unsigned d = now->delay ? (unsigned)(next_random(&state) % now->delay) : 0; d > 0; d--) PAUSE();
      switch (me) {
@CASES@
      }
    }
    pthread_barrier_wait(&stop);
  }
}

static double clock_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void pin(pthread_t thread, unsigned number) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const unsigned count = (unsigned)CPU_COUNT(&allowed);
  for (unsigned cpu = 0, seen = 0; count > 0 && cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &allowed) || seen++ != number % count) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(thread, sizeof one, &one);
    return;
  }
}

int main(int count, char **arguments) {
  const double seconds = count > 1 ? atof(arguments[1]) : 1.0;
  if (count > 2) seed = strtoul(arguments[2], NULL, 10);
  const unsigned long runs = count > 3 ? strtoul(arguments[3], NULL, 10) : 0; /* 0: as many as the time allows */
  const int plain = count > 4; /* only the first strategy, to compare with */
  for (unsigned v = 0; v < VARIABLES; v++)
    if (posix_memalign((void **)&memory[v], 64, sizeof(value) * INSTANCES * MOST_STRIDE) != 0) return 70;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) < THREADS) {
    patience = 20;
    used = 64;
  }
  pthread_barrier_init(&start, NULL, THREADS + 1);
  pthread_barrier_init(&stop, NULL, THREADS + 1);
  pthread_t threads[THREADS];
  for (unsigned t = 0; t < THREADS; t++) {
    if (pthread_create(&threads[t], NULL, work, (void *)(uintptr_t)t) != 0) return 70;
    pin(threads[t], t);
  }
  unsigned long state = seed, total = 0, rounds[STRATEGIES] = {0}, wanted[STRATEGIES] = {0};
  double spent[STRATEGIES] = {0};
  const double begin = clock_now();
  for (unsigned long round = 0; (clock_now() - begin < seconds && (runs == 0 || total < runs)) || round < STRATEGIES; round++) {
    unsigned chosen = plain ? 0 : (unsigned)(round % STRATEGIES);
    if (!plain && round >= 8 * STRATEGIES && next_random(&state) % 4 != 0) { /* mostly the one that sees most a second */
      for (unsigned s = 0; s < STRATEGIES; s++)
        if ((double)wanted[s] * spent[chosen] > (double)wanted[chosen] * spent[s]) chosen = s;
    }
    now = &strategies[chosen];
    prepare_round(&state);
    const double from = clock_now();
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&stop);
    spent[chosen] += clock_now() - from;
    total -= rounds[chosen];
    wanted[chosen] += count_round(&rounds[chosen]);
    total += rounds[chosen];
  }
  over = 1;
  pthread_barrier_wait(&start);
  for (unsigned t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  for (unsigned s = 0; s < STRATEGIES; s++)
    printf("strategy %s|%lu|%lu|%.6f\n", strategies[s].name, rounds[s], wanted[s], spent[s]);
  for (unsigned k = 0; k < known; k++) {
    printf("outcome %lu %d", outcomes[k].count, is_wanted(outcomes[k].seen));
    for (unsigned j = 0; j < OBSERVED; j++) printf(" %lld", (long long)outcomes[k].seen[j]);
    printf("\n");
  }
  if (dropped > 0) printf("dropped %lu\n", dropped);
  return 0;
}
