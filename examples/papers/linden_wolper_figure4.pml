/* Linden and Wolper 2010, Fig. 4: P0 can go round for ever by itself, and what it commits unlocks the cycle of P1. */
bit x = 1, y = 1;

active proctype P0() {
    do
    :: x = 1;
       (y == 1);
       x = 0;
four:  (y == 1)
    od
}

active proctype P1() {
    do
    :: y = 1;
       (x == 0);
       y = 0;
four:  (x == 1)
    od
}
