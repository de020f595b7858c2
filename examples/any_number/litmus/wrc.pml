/* Write to read causality: what a thread has seen before it stores, its readers see, too. Any number of each kind.
 *
 * Impossible under TSO, for any number of threads.
 */
#include "../../memfence.h"

bit x, y;

active [*] proctype P0() {
    x = 1
}

active [*] proctype P1() {
    x == 1;
    y = 1;
seen: skip
}

active [*] proctype P2() {
    y == 1;
    x == 0;
seen: skip
}

ltl { [] !(P1[3]@seen && P2[6]@seen) }
