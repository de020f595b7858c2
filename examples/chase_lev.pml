/* The work-stealing deque of Chase and Lev: its owner takes from the bottom, a thief steals from the top.
 *
 * Two tasks, 1 and 2. The owner pushes both and takes one back; the thief tries twice. The owner lowers `bottom` first
 * and looks at `top` afterwards: with that store still in the buffer, the thief and the owner get the same task.
 */
#include "memfence.h"

byte task[2];
byte top, bottom;

active proctype owner() {
    byte b, t, took;
    task[0] = 1;
    bottom = 1;
    task[1] = 2;
    bottom = 2;

    b = bottom - 1;
    bottom = b;
    t = top;
    if
    :: t < b -> took = task[b]
    :: t == b ->
       atomic {
           if
           :: top == t -> top = t + 1; took = task[b]
           :: else -> skip
           fi
       };
       bottom = b + 1
    :: t > b -> bottom = b + 1
    fi
}

active proctype thief() {
    byte b, t, stolen, tries;
    do
    :: tries < 2 ->
       t = top;
       b = bottom;
       if
       :: t < b ->
          stolen = task[t];
          atomic {
              if
              :: top == t -> top = t + 1
              :: else -> stolen = 0
              fi
          };
success:  skip
       :: else -> skip
       fi;
       stolen = 0;
       tries++
    :: else -> break
    od
}

ltl no_task_is_done_twice { [] (thief@success && thief:stolen != 0 -> thief:stolen != owner:took) }
