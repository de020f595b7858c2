/* Dekker's mutual exclusion, two threads, two critical sections each: a bounded test program in the manner of Sober's
 * table (Fig. 4). Waiting is blocking, so that every execution ends.
 */
#include "../memfence.h"
#ifndef FENCE
#define FENCE
#endif

bool wants[2];
bit turn;
byte inside;

active [2] proctype thread() {
    bit me = _pid, other = 1 - _pid;
    byte round;
    do
    :: round < 2 ->
       wants[me] = true;
       FENCE
       do
       :: wants[other] == false -> break
       :: else ->
          if
          :: turn == me -> (wants[other] == false); break
          :: else ->
             wants[me] = false;
             (turn == me);
             wants[me] = true;
             FENCE
          fi
       od;
       inside = me + 1;
       assert(inside == me + 1);
       turn = other;
       wants[me] = false;
       round++
    :: else -> break
    od
}
