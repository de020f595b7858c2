/* Store buffering: each kind of thread stores one variable and loads the other. Any number of each kind.
 *
 * Possible under TSO, and not under SC. With FENCED, an mfence stands between store and load.
 */
#include "../../memfence.h"

bit x, y;

active [*] proctype P0() {
    x = 1;
#ifdef FENCED
    mfence();
#endif
    y == 0;
seen: skip
}

active [*] proctype P1() {
    y = 1;
#ifdef FENCED
    mfence();
#endif
    x == 0;
seen: skip
}

ltl { [] !(P0[0]@seen && P1[3]@seen) }
