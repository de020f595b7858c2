/* Robust, not persistent: P may read y = 0 while its store to x is pending, and Q's store to y may reach memory first.
 * The stores then have another order than in any SC run with that read, but nobody looks: no happens-before cycle.
 */
byte x, y;

active proctype P() {
    byte a;
    x = 1;
    a = y
}

active proctype Q() {
    y = 1
}
