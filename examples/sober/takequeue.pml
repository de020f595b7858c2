/* A take-queue: one thread pushes and pops at the tail without a lock, as long as the queue is not nearly empty; the other
 * takes from the head under a lock (the THE protocol). Six operations: two pushes and two pops, two takes. In the spirit of
 * the low-lock queue of Sober's table (Fig. 4); written from scratch.
 */
#include "../memfence.h"
#ifndef FENCE
#define FENCE
#endif

byte head = 1, tail = 1;     /* head <= position < tail are in the queue; the lock holder alone moves head */
bit held;
byte done[3];                /* how often the item at a position was got */

inline acquire() { atomic { held == 0 -> held = 1 } }
inline release() { held = 0 }
inline got(position) { atomic { assert(done[position] == 0); done[position] = done[position] + 1 } }

active proctype owner() {
    byte t = 1, operation;
    do
    :: operation < 2 ->      /* push */
       t++;
       tail = t;
       operation++
    :: else -> break
    od;
    do
    :: operation < 4 ->      /* pop */
       t--;
       tail = t;
       FENCE
       if
       :: head <= t -> got(t)
       :: else ->            /* nearly empty: a taker may be after the same item */
          t++;
          tail = t;
          acquire();
          t--;
          tail = t;
          if
          :: head <= t -> got(t)
          :: else ->
             t++;
             tail = t
          fi;
          release()
       fi;
       operation++
    :: else -> break
    od
}

active proctype taker() {
    byte h, operation;
    do
    :: operation < 2 ->
       acquire();
       h = head;
       head = h + 1;
       FENCE
       if
       :: h < tail -> got(h)
       :: else -> head = h
       fi;
       release();
       operation++
    :: else -> break
    od
}
