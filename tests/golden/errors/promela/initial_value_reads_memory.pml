byte x;
active proctype P() {
    byte r = x + 1;
    x = r
}
