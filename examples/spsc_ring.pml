/* A ring buffer for one producer and one consumer, without locks.
 *
 * The producer fills a slot, then moves `tail`; the consumer empties a slot, then moves `head`. Each index has one writer.
 * Correct on x86 as it stands; under PSO `tail` may overtake the slot's content.
 */
#include "memfence.h"
#define SIZE 2
#define ITEMS 3

byte slot[SIZE];
byte head, tail;

active proctype producer() {
    byte n = 1;
    do
    :: n <= ITEMS ->
       (n - 1 - head < SIZE);
       slot[(n - 1) % SIZE] = n;
       tail = n;
       n++
    :: else -> break
    od
}

active proctype consumer() {
    byte n = 1, got;
    do
    :: n <= ITEMS ->
       (tail >= n);
       got = slot[(n - 1) % SIZE];
       assert(got == n);
       head = n;
       n++
    :: else -> break
    od
}
