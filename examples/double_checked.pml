/* Double-checked initialisation: look without the lock, lock, look again.
 *
 * The fast path reads the flag and then the value, with no lock. Under PSO the flag may overtake the value, and somebody
 * uses what is not there yet. Under TSO the order of the two stores is kept.
 */
#include "memfence.h"

bool initialised, locked;
byte value;

active [2] proctype user() {
    byte seen;
    if
    :: initialised -> skip
    :: else ->
       atomic { !locked -> locked = true };
       if
       :: initialised -> skip
       :: else ->
          value = 7;
          initialised = true
       fi;
       locked = false
    fi;
    seen = value;
    assert(seen == 7)
}
