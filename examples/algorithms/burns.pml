/* Burns' mutual exclusion for two processes: one bit each, the first insists, the second gives way.
 *
 * Both raise their flag and then look at the other's: the pair that store buffers turn round.
 */
#include "../memfence.h"

bool flag[2];

active proctype first() {
    do
    :: flag[0] = true;
       (flag[1] == false);
cs:    skip;
       flag[0] = false
    od
}

active proctype second() {
    do
    :: (flag[0] == false);
       flag[1] = true;
       if
       :: flag[0] == false -> skip;
cs:       skip
       :: else -> skip
       fi;
       flag[1] = false
    od
}

ltl mutual_exclusion { [] !(first@cs && second@cs) }
