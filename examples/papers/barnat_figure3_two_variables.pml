/* What Fig. 3 of Barnat, Brim and Havel means to show, with two variables: a run that needs two pending stores to y.
 *
 * Where a process may have one store to a variable pending, the second y = 0 waits for the first, and that one for x or z.
 */
byte x, y, z;

active proctype P() {
    byte r = 9;
    x = 1;
    y = 0;
    y = 0;
    r = z
}

active proctype Q() {
    byte s = 9;
    z = 1;
    y = 0;
    y = 0;
    s = x
}
