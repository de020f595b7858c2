/* Independent reads of independent writes: two readers that disagree about the order of two stores. Any number of each kind.
 *
 * Impossible under TSO, for any number of threads.
 */
#include "../../memfence.h"

bit x, y;

active [*] proctype P0() {
    x = 1
}

active [*] proctype P1() {
    y = 1
}

active [*] proctype P2() {
    x == 1;
    y == 0;
seen: skip
}

active [*] proctype P3() {
    y == 1;
    x == 0;
seen: skip
}

ltl { [] !(P2[6]@seen && P3[9]@seen) }
