/* A ticket lock around a counter.
 *
 * Tickets are drawn by one locked instruction (`atomic`); who leaves calls the next number with a plain store. On x86
 * that is a correct release. Under PSO it may overtake the store to the counter, and the next owner reads an old value.
 */
#include "memfence.h"

byte next, serving, counter;

active [2] proctype client() {
    byte ticket, seen;
    atomic {
        ticket = next;
        next = ticket + 1
    };
    (serving == ticket);
cs: seen = counter;
    assert(seen == ticket);
    counter = seen + 1;
    serving = ticket + 1
}

ltl mutual_exclusion { [] !(client[0]@cs && client[1]@cs) }
