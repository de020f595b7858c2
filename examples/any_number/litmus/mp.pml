/* Message passing: data, then a flag; a reader of the flag that misses the data. Any number of each kind.
 *
 * Impossible under TSO, for any number of threads.
 */
#include "../../memfence.h"

bit x, y;

active [*] proctype P0() {
    x = 1;
    y = 1
}

active [*] proctype P1() {
    y == 1;
    x == 0;
seen: skip
}

ltl { [] !(P1[3]@seen) }
