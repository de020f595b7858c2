/* Only state-robust: P's load of y overtakes its store to x, and Q notices by the order of stores; the states with empty
 * buffers are those of SC all the same, because the stores to x change nothing.
 */
byte x, y;

active proctype P() {
    byte a;
    x = 0;
    a = y
}

active proctype Q() {
    y = 1;
    x = 0
}
