/* Lamport's fast mutual exclusion: without contention seven accesses, whatever the number of processes.
 *
 * Processes are called 1 and 2 in `x` and `y`; 0 means nobody. Its speed rests on few stores and loads in a fixed order,
 * and that order is what store buffers take away.
 */
#include "memfence.h"

bool busy[3];
byte x, y;

active [2] proctype P() {
    byte me = _pid + 1, other = 2 - _pid;

start:
    busy[me] = true;
    x = me;
    if
    :: y != 0 ->
       busy[me] = false;
       (y == 0);
       goto start
    :: else -> skip
    fi;
    y = me;
    if
    :: x != me ->
       busy[me] = false;
       (busy[other] == false);
       if
       :: y != me ->
          (y == 0);
          goto start
       :: else -> skip
       fi
    :: else -> skip
    fi;
cs: skip;
    y = 0;
    busy[me] = false;
    goto start
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
