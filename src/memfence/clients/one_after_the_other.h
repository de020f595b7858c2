/* Threads that take turns: what stands between the calls of a client. It includes nothing, so that the object may have
 * any names. */
#ifndef MEMFENCE_ONE_AFTER_THE_OTHER_H
#define MEMFENCE_ONE_AFTER_THE_OTHER_H
#ifdef __cplusplus
extern "C" {
#endif
void memfence_my_turn(int thread);
int memfence_fails_here(void);
void memfence_next_turn(void);
void memfence_finish(const long long *results, int count);
int memfence_run_orders(int count, char **orders, void (*one_order)(void));
#ifdef __cplusplus
}
#endif
#endif
