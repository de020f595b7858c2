/* Linden and Wolper 2010, Fig. 2: two processes that store in loops, with buffers of any length. */
bit x, y;

active proctype P0() {
    do
    :: x = 1; x = 0
    od
}

active proctype P1() {
    do
    :: y = 1; y = 0
    od
}
