/* N processes announce themselves, look whether they are alone, and step back if not: mutual exclusion by flags, fenced. */
#include "../memfence.h"

#define N 2

bit wants[N];

active [N] proctype P() {
    byte me = _pid, other;
    bit alone;
    do
    :: wants[me] = 1;
       mfence();
       alone = 1;
       other = 0;
       do
       :: other == N -> break
       :: other == me -> other++
       :: other < N && other != me ->
          if
          :: wants[other] -> alone = 0
          :: else -> skip
          fi;
          other++
       od;
       wants[me] = 0;
       mfence()
    od
}
