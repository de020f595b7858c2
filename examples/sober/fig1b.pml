/* Sober's Fig. 1(b), store buffering: on a processor with store buffers both threads may read 0. */
#include "../memfence.h"
#ifndef FENCE
#define FENCE
#endif

byte X, Y;

active proctype first() {
    byte r1;
    X = 1;
    FENCE
    r1 = Y
}

active proctype second() {
    byte r2;
    Y = 1;
    FENCE
    r2 = X
}
