/* Threads that take turns, as the text of an order says: "1c2f" is a call of thread 1, then one of thread 2 that fails.
 * Each order runs in a process of its own, which prints what the calls gave.
 *
 * Functions of libc that may wait have others in their place: what would have to wait for another thread waits for ever,
 * since no other thread is in a call. The process ends with a status that says so. */
#define _GNU_SOURCE
#include "one_after_the_other.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { stuck_status = 77, cpu_seconds = 2, most_seconds = 60 };

static const char* turns;
static int* turn; /* in memory that the parent sees */
static FILE* answers; /* what the object prints goes elsewhere */

void memfence_my_turn(int thread) {
  while (turns[2 * __atomic_load_n(turn, __ATOMIC_SEQ_CST)] != '0' + thread) sched_yield();
}

int memfence_fails_here(void) { return turns[2 * *turn + 1] == 'f'; }

void memfence_next_turn(void) { __atomic_fetch_add(turn, 1, __ATOMIC_SEQ_CST); }

void memfence_finish(const long long* results, int count) {
  fprintf(answers, "order ends");
  for (int each = 0; each < count; each++) fprintf(answers, " %lld", results[each]);
  fprintf(answers, "\n");
  fflush(answers);
  _exit(0);
}

static void run_one(const char* order, void (*one_order)(void)) {
  struct rlimit limit = {cpu_seconds, cpu_seconds};
  setrlimit(RLIMIT_CPU, &limit);
  alarm(most_seconds);
  turns = order;
  one_order();
  _exit(1);
}

static int is_stuck(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status) == stuck_status;
  int signal = WTERMSIG(status);
  return signal == SIGXCPU || signal == SIGKILL || signal == SIGALRM;
}

int memfence_run_orders(int count, char** orders, void (*one_order)(void)) {
  turn = (int*)mmap(0, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (turn == MAP_FAILED) return 1;
  answers = fdopen(dup(STDOUT_FILENO), "w");
  if (!answers || !freopen("/dev/null", "w", stdout)) return 1;
  for (int each = 0; each < count; each++) {
    *turn = 0;
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) run_one(orders[each], one_order);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue; /* it has printed its own line */
    fprintf(answers, "order %s %d\n", is_stuck(status) ? "stuck" : "fails", *turn);
    fflush(answers);
  }
  return 0;
}

static int stuck(void) {
  _exit(stuck_status);
  return 0;
}

static int or_stuck(int tried) { return tried == EBUSY ? stuck() : tried; }

int pthread_mutex_lock(pthread_mutex_t* mutex) { return or_stuck(pthread_mutex_trylock(mutex)); }
int pthread_spin_lock(pthread_spinlock_t* lock) { return or_stuck(pthread_spin_trylock(lock)); }
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) { return or_stuck(pthread_rwlock_tryrdlock(lock)); }
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) { return or_stuck(pthread_rwlock_trywrlock(lock)); }
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) { return stuck(); }
int pthread_barrier_wait(pthread_barrier_t* barrier) { return stuck(); }

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const struct timespec* until) {
  return ETIMEDOUT;
}

int sem_wait(sem_t* semaphore) {
  if (sem_trywait(semaphore) == 0) return 0;
  return errno == EAGAIN ? stuck() : -1;
}
