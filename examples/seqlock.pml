/* A sequence lock: readers never write, and retry if the writer was busy meanwhile.
 *
 * An odd `version` means that the writer is at work. The reader believes what it read only if the version was even and
 * did not change. Under TSO that holds; under PSO the stores of the data may leave their bracket of version stores.
 */
#include "memfence.h"

byte version, left, right;

active proctype writer() {
    byte n = 1;
    do
    :: n <= 2 ->
       version = 2 * n - 1;
       left = n;
       right = n;
       version = 2 * n;
       n++
    :: else -> break
    od
}

active proctype reader() {
    byte before, l, r;
    do
    :: before = version;
       if
       :: before % 2 == 0 ->
          l = left;
          r = right;
          if
          :: version == before -> break
          :: else -> skip
          fi
       :: else -> skip
       fi
    od;
    assert(l == r)
}
