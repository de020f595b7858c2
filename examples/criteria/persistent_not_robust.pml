/* Persistent, not robust: every store writes the value that is there already. Reading "too early" is a happens-before
 * cycle, but no state and no value shows it.
 */
byte x, y;

active proctype P() {
    byte a;
    x = 0;
    a = y
}

active proctype Q() {
    byte b;
    y = 0;
    b = x
}
