/* Szymanski's mutual exclusion: a waiting room with an entry door and an exit door.
 *
 * flag: 0 outside, 1 wants in, 2 waits for others in the room, 3 at the door, 4 the door is closed behind us. Linear
 * waiting with one small variable a process; every door needs a fence.
 */
#include "memfence.h"

byte flag[2];

active [2] proctype P() {
    byte me = _pid, other = 1 - _pid;
    do
    :: flag[me] = 1;
       (flag[other] < 3);
       flag[me] = 3;
       if
       :: flag[other] == 1 ->
          flag[me] = 2;
          (flag[other] == 4)
       :: else -> skip
       fi;
       flag[me] = 4;
       if
       :: me == 1 -> (flag[other] < 2)
       :: else -> skip
       fi;
cs:    skip;
       if
       :: me == 0 -> (flag[other] < 2 || flag[other] > 3)
       :: else -> skip
       fi;
       flag[me] = 0
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
