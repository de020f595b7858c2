/* Read to write causality behind message passing. Any number of each kind.
 *
 * Possible under TSO, and not under SC. With FENCED, an mfence stands between store and load.
 */
#include "../../memfence.h"

bit x, y, z;

active [*] proctype P0() {
    x = 1;
    z = 1
}

active [*] proctype P1() {
    z == 1;
    y == 0;
seen: skip
}

active [*] proctype P2() {
    y = 1;
#ifdef FENCED
    mfence();
#endif
    x == 0;
seen: skip
}

ltl { [] !(P1[3]@seen && P2[6]@seen) }
