/* Load buffering: each kind of thread loads one variable and then stores the other. Any number of each kind.
 *
 * Impossible under TSO, for any number of threads.
 */
#include "../../memfence.h"

bit x, y;

active [*] proctype P0() {
    x == 1;
    y = 1;
seen: skip
}

active [*] proctype P1() {
    y == 1;
    x = 1;
seen: skip
}

ltl { [] !(P0[0]@seen && P1[3]@seen) }
