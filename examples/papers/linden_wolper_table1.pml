/* Linden and Wolper 2010, Table 1: each process reads its own store before it is in memory. */
byte x, y;

active proctype P1() {
    x = 1;
    (x == 1);
    (y == 0);
done: skip
}

active proctype P2() {
    y = 1;
    (y == 1);
    (x == 0);
done: skip
}
