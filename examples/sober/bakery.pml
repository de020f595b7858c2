/* Lamport's bakery, two threads, three critical sections each: a bounded test program in the manner of Sober's table
 * (Fig. 4). Waiting is blocking, so that every execution ends.
 */
#include "../memfence.h"
#ifndef FENCE
#define FENCE
#endif

bool choosing[2];
byte ticket[2];
byte inside;

active [2] proctype thread() {
    byte me = _pid, other = 1 - _pid;
    byte round, mine;
    do
    :: round < 3 ->
       choosing[me] = true;
       FENCE
       mine = ticket[other];
       mine++;
       ticket[me] = mine;
       choosing[me] = false;
       FENCE
       (choosing[other] == false);
       (ticket[other] == 0 || ticket[other] > mine || (ticket[other] == mine && other > me));
       inside = me + 1;
       assert(inside == me + 1);
       ticket[me] = 0;
       FENCE
       round++
    :: else -> break
    od
}
