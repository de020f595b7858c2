/* Dijkstra's mutual exclusion for two processes, the first algorithm for any number of them.
 *
 * flag: 0 outside, 1 wants in, 2 tries. Whoever has the turn tries, and steps back if somebody else does so too: what is
 * stored there must be visible before the other's flag is read.
 */
#include "../memfence.h"

byte flag[2];
bit turn;

active [2] proctype P() {
    byte me = _pid, other = 1 - _pid, t;
    do
    :: flag[me] = 1;
retry: t = turn;
       if
       :: t != me ->
          if
          :: flag[t] == 0 -> turn = me
          :: else -> skip
          fi;
          goto retry
       :: else -> skip
       fi;
       flag[me] = 2;
       if
       :: flag[other] == 2 -> goto retry
       :: else -> skip
       fi;
cs:    skip;
       flag[me] = 0
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
