/* An event count: any number of threads wait for an event that one thread signals, which skips waking if nobody waits.
 *
 * A waiter announces itself by a locked step, then looks whether the event has happened; if not, it sleeps. The signaller
 * notes the event, then looks whether somebody waits. It must not find nobody while somebody falls asleep. With BROKEN
 * the fence between its store and its load is missing.
 */
#include "../memfence.h"

bit happened, waiting;

active [*] proctype Waiter() {
    atomic { waiting = 1 };
    if
    :: happened
    :: else ->
asleep: skip
    fi
}

active proctype Signaller() {
    happened = 1;
#ifndef BROKEN
    mfence();
#endif
    if
    :: waiting
    :: else ->
silent: skip
    fi
}

ltl no_lost_wakeup { [] !(Waiter[0]@asleep && Signaller@silent) }
