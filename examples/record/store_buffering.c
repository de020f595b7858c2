/* Two threads announce themselves and look for each other: recorded for `memfence monitor`.
 *
 * The recorded execution is one of sequential consistency, where at most one of them finds nobody. With store buffers
 * both may: the monitor says so, whatever happened when this was run. -DFENCED has the fence that is missing.
 */
#include "memfence_recorder.h"

#include <stddef.h>

static atomic_int here[2];
static int alone[2];

static void* announce(void* argument) {
  const int me = *(int*)argument;
  MEMFENCE_STORE(&here[me], 1, memory_order_release);
#ifdef FENCED
  MEMFENCE_FENCE(memory_order_seq_cst);
#endif
  alone[me] = MEMFENCE_LOAD(&here[1 - me], memory_order_acquire) == 0;
  return NULL;
}

int main(void) {
  static int numbers[2] = {0, 1};
  pthread_t threads[2];
  MEMFENCE_NAME(&here[0]);
  MEMFENCE_NAME(&here[1]);
  for (int n = 0; n < 2; ++n)
    if (MEMFENCE_CREATE(&threads[n], announce, &numbers[n]) != 0) return 1;
  for (int n = 0; n < 2; ++n) MEMFENCE_JOIN(threads[n], NULL);
  return alone[0] && alone[1];
}
