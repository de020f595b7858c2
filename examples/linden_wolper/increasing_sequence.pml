/* Linden and Wolper 2013, Table 1: Increasing sequence, limit 10: the reader never sees the counter go back */
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
    :: first = counter; second = counter; assert(second >= first)
    od
}
