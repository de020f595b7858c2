byte x;
proctype P(byte me) { x = me }
init {
    run P(1);
    x == 1;
    run P(2)
}
