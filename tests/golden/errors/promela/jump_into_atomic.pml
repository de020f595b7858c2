byte x;
active proctype P() {
    goto inside;
    atomic { x = 1; inside: x = 2 }
}
