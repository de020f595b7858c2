/* Peterson's mutual exclusion for two processes, entered again and again.
 *
 * Correct under SC. Under TSO the load of the other's flag overtakes the own stores: both enter. Under PSO, in addition,
 * the two stores may change places.
 */
#include "memfence.h"

bool wants[2];
bit turn;

active [2] proctype P() {
    bit me = _pid, other = 1 - _pid;
    do
    :: wants[me] = true;
       turn = other;
       do
       :: wants[other] == false -> break
       :: turn == me -> break
       od;
cs:    skip;
       wants[me] = false
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
