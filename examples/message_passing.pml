/* Message passing: write the data, then raise the flag.
 *
 * Stores leave a TSO buffer in order, so x86 needs no fence here. Under PSO the flag may overtake the data; one `sfence`
 * between the two stores is enough.
 */
#include "memfence.h"

byte data;
bool ready;

active proctype sender() {
    data = 42;
    ready = true
}

active proctype receiver() {
    byte got;
    ready;
    got = data;
    assert(got == 42)
}
