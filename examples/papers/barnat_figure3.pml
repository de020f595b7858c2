/* Barnat, Brim and Havel, Fig. 3, as printed: what can r and s be in the end?
 *
 * docs/theory/errata.md: r == 1 && s == 2 needs no store buffer, and no store buffer gives r == 2 && s == 1. */
byte x, y;

active proctype P() {
    byte r = 9;
    x = 1;
    y = 0;
    y = 0;
    r = x
}

active proctype Q() {
    byte s = 9;
    x = 2;
    y = 0;
    y = 0;
    s = x
}
