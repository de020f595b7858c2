/* Peterson's mutual exclusion for N processes (the filter lock), fenced: N - 1 doors, at each the last one to arrive waits. */
#include "../memfence.h"

#define N 2

byte level[N], last[N];

active [N] proctype P() {
    byte me = _pid, stage, other;
    do
    :: stage = 1;
       do
       :: stage < N ->
          level[me] = stage;
          last[stage] = me;
          mfence();
          other = 0;
          do
          :: other == me -> other++
          :: other == N -> break
          :: other < N && other != me ->
             if
             :: level[other] < stage -> other++
             :: last[stage] != me -> break
             fi
          od;
          stage++
       :: else -> break
       od;
       level[me] = 0;
       mfence()
    od
}
