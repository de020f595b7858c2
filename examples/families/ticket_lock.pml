/* A ticket lock for N processes: a ticket is drawn by a locked step, so no fence is needed. */
#include "../memfence.h"

#define N 2

unsigned next : 3, serving : 3;

active [N] proctype client() {
    unsigned ticket : 3;
    do
    :: atomic { ticket = next; next = next + 1 };
       serving == ticket;
       serving = serving + 1
    od
}
