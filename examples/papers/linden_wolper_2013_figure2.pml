/* Linden and Wolper 2013, Fig. 2: a cycle with stores to two variables, whose buffers are apart under PSO. */
bit x, y;

active proctype P() {
    do
    :: x = 1; y = 1
    od
}
