/* A writer counts up, a reader never sees the counter go back: stores to one variable stay in order, no fence is needed. */
#include "../memfence.h"

byte counter;

active proctype writer() {
    byte value;
    do
    :: value < 10 -> value++; counter = value
    :: else -> break
    od
}

active proctype reader() {
    byte first, second;
    do
    :: first = counter;
       second = counter;
       assert(second >= first)
    od
}
