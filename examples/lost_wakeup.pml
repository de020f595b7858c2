/* A lost wake-up.
 *
 * The waiter announces itself, checks for work, and goes to sleep if there is none. The producer publishes work, checks
 * for a waiter, and wakes it if there is one. Either the waiter sees the work, or the producer sees the waiter: so it is
 * on paper. On a processor with store buffers both may look before the other's announcement has left the buffer; then
 * the waiter sleeps for ever beside its work. Each side needs a fence between announcing and checking.
 */
#include "memfence.h"

bool waiting, work, signalled;

active proctype waiter() {
    waiting = true;
    if
    :: work -> skip
    :: else ->
asleep: signalled
    fi
}

active proctype producer() {
    work = true;
    if
    :: waiting -> signalled = true
    :: else ->
unaware: skip
    fi
}

ltl no_lost_wakeup { [] !(waiter@asleep && producer@unaware) }
