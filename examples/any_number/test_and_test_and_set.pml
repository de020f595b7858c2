/* A lock that threads watch before they try to take it: any number of them.
 *
 * The watching load may see an old value, but the locked step does not. With BROKEN, seeing the lock free is enough.
 */
#include "../memfence.h"

bit lock;

active [*] proctype Thread() {
    bit taken;
    do
    :: lock == 0 ->
#ifdef BROKEN
       lock = 1; taken = 0;
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
