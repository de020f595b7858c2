/* The alternating bit protocol with one variable a direction: needs no fence, not even under PSO.
 *
 * Each side writes one variable only and waits for the other before it writes again.
 */
#include "../memfence.h"

byte message, acknowledgement;

active proctype sender() {
    do
    :: message = 1;
       (acknowledgement == 1);
       message = 2;
       (acknowledgement == 2)
    od
}

active proctype receiver() {
    byte seen, expected = 1;
    do
    :: seen = message;
       if
       :: seen == expected -> acknowledgement = seen; expected = 3 - expected
       :: else -> assert(seen == 0 || seen == 3 - expected)
       fi
    od
}
