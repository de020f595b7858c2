/* Message passing over one more kind of thread. Any number of each kind.
 *
 * Impossible under TSO, for any number of threads.
 */
#include "../../memfence.h"

bit x, y, z;

active [*] proctype P0() {
    x = 1;
    y = 1
}

active [*] proctype P1() {
    y == 1;
    z = 1;
seen: skip
}

active [*] proctype P2() {
    z == 1;
    x == 0;
seen: skip
}

ltl { [] !(P1[3]@seen && P2[6]@seen) }
