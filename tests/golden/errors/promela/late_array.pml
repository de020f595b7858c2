byte x;
active proctype P() {
    x = 1;
    byte seen[2] = 3;
    seen[1] = x
}
