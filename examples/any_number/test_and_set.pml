/* A test-and-set lock, taken by any number of threads.

   A thread sets the lock in one locked step that also says whether it was free. Releasing is a plain store: it may wait
   in the buffer, which only keeps the others out a little longer.

   memfence check examples/any_number/test_and_set.pml --forbid "Thread_0@critical && Thread_1@critical"
   Thread_0 and Thread_1 stand for any two of them. */

bit lock;

active [*] proctype Thread() {
    bit taken;
again:
    atomic { taken = lock; lock = 1 };
    if
    :: taken -> goto again
    :: else
    fi;
critical:
    skip;
    lock = 0;
    goto again
}
