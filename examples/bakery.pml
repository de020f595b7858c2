/* Lamport's bakery: take a ticket that is higher than all others, wait for those who are before you.
 *
 * Two customers, each served once, so that the tickets stay small. The doorway (choosing, reading the tickets, taking
 * one) must be visible to the other customer before one looks around: each process needs fences there.
 */
#include "memfence.h"

bool choosing[2];
byte ticket[2];

active [2] proctype customer() {
    byte me = _pid, other = 1 - _pid;
    byte highest, theirs;

    choosing[me] = true;
    highest = ticket[other];
    ticket[me] = highest + 1;
    choosing[me] = false;

    (choosing[other] == false);
    do
    :: theirs = ticket[other];
       if
       :: theirs == 0 -> break
       :: theirs > highest + 1 -> break
       :: theirs == highest + 1 && other > me -> break
       :: else -> skip
       fi
    od;
cs: skip;
    ticket[me] = 0
}

ltl mutual_exclusion { [] !(customer[0]@cs && customer[1]@cs) }
