/* Threads that take turns, as the text of an order says: "1c2f" is a call of thread 1, then one of thread 2 that fails.
 * Each order runs in a process of its own, which prints what the calls gave. */
#ifndef MEMFENCE_ONE_AFTER_THE_OTHER_H
#define MEMFENCE_ONE_AFTER_THE_OTHER_H
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { stuck_status = 77, cpu_seconds = 2, most_seconds = 60 };

static const char *turns;
static int turn;

static inline void my_turn(int thread)
{
    while (turns[2 * __atomic_load_n(&turn, __ATOMIC_SEQ_CST)] != '0' + thread)
        sched_yield();
}

static inline int fails_here(void) { return turns[2 * turn + 1] == 'f'; }
static inline void next_turn(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST); }

static inline void finish(const long long *results, int count)
{
    printf("order ends");
    for (int each = 0; each < count; each++)
        printf(" %lld", results[each]);
    printf("\n");
    fflush(stdout);
    _exit(0);
}

static inline int run_orders(int count, char **orders, void (*one_order)(void))
{
    for (int each = 0; each < count; each++) {
        pid_t child = fork();
        if (child < 0)
            return 1;
        if (child == 0) {
            struct rlimit limit = {cpu_seconds, cpu_seconds};
            setrlimit(RLIMIT_CPU, &limit);
            alarm(most_seconds);
            turns = orders[each];
            one_order();
            _exit(1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue; /* it has printed its own line */
        int is_stuck = (WIFEXITED(status) && WEXITSTATUS(status) == stuck_status) ||
                       (WIFSIGNALED(status) &&
                        (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGALRM));
        printf("order %s\n", is_stuck ? "stuck" : "fails");
        fflush(stdout);
    }
    return 0;
}
#endif
