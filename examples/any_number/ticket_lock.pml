/* A ticket lock whose tickets wrap around, taken by any number of threads.
 *
 * Tickets wrap at SIZE, so two of more than SIZE threads would hold the same one. Here a thread draws a ticket only while
 * fewer than SIZE are out, and gives it back behind the store that serves the next: what is proved is that this is enough
 * for any number of threads. With UNLIMITED every thread draws one: SIZE + 1 threads break the lock. With BROKEN, drawing is two steps.
 */
#include "../memfence.h"
#define SIZE 4

byte next, serving, out;

active [*] proctype Thread() {
    byte ticket;
    do
    ::
#ifdef BROKEN
       out < SIZE - 1 -> out = out + 1;
       ticket = next;
       next = (ticket + 1) % SIZE;
#else
#ifdef UNLIMITED
       atomic { ticket = next; next = (next + 1) % SIZE };
#else
       atomic { out < SIZE -> out = out + 1; ticket = next; next = (next + 1) % SIZE };
#endif
#endif
       serving == ticket;
critical: skip;
       serving = (ticket + 1) % SIZE;
#ifndef UNLIMITED
       atomic { out > 0 -> out = out - 1 };
#endif
       ticket = 0
    od
}

ltl mutual_exclusion { [] !(Thread[0]@critical && Thread[1]@critical) }
