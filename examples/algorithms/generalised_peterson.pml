/* Peterson's mutual exclusion for three processes (the filter lock), entered again and again.
 *
 * Two doors; at each the last one to arrive waits until nobody else is that far. Every door is Peterson's algorithm:
 * the two stores must not change places (PSO), and both must be visible before one looks at the others (TSO).
 */
#include "../memfence.h"

byte level[3], last[3];

active [3] proctype P() {
    byte me = _pid, stage, other;
    do
    :: stage = 1;
       do
       :: stage < 3 ->
          level[me] = stage;
          last[stage] = me;
          other = 0;
          do
          :: other == me -> other++
          :: other == 3 -> break
          :: other < 3 && other != me ->
             if
             :: level[other] < stage -> other++
             :: last[stage] != me -> break
             fi
          od;
          stage++
       :: else -> break
       od;
cs:    skip;
       level[me] = 0
    od
}

ltl mutual_exclusion { [] !((P[0]@cs && P[1]@cs) || (P[0]@cs && P[2]@cs) || (P[1]@cs && P[2]@cs)) }
