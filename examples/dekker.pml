/* Dekker's mutual exclusion, the first of them all.
 *
 * Like Peterson's it relies on "announce, then look": a store followed by a load of another variable, the one pair that
 * even x86 reorders.
 */
#include "memfence.h"

bool wants[2];
bit turn;

active [2] proctype P() {
    bit me = _pid, other = 1 - _pid;
    do
    :: wants[me] = true;
       do
       :: wants[other] == false -> break
       :: else ->
          if
          :: turn == me -> skip
          :: else ->
             wants[me] = false;
             (turn == me);
             wants[me] = true
          fi
       od;
cs:    skip;
       turn = other;
       wants[me] = false
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
