/* A test-and-set lock, taken by any number of threads.
 *
 * A thread sets the lock in one locked step, which also says whether it was free. Releasing it is a plain store: that may
 * wait in the buffer, which only keeps the others out a little longer. With BROKEN, two steps take the lock.
 */
#include "../memfence.h"

bit lock;

active [*] proctype Thread() {
    bit taken;
    do
    ::
#ifdef BROKEN
       taken = lock;
       lock = 1;
#else
       xchg(taken, lock, 1);
#endif
       if
       :: !taken ->
critical: skip;
          lock = 0
       :: else
       fi
    od
}

ltl mutual_exclusion { [] !(Thread[0]@critical && Thread[1]@critical) }
