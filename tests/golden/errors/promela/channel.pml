chan c = [1] of { int };
byte x;
active proctype P() {
    c ! 1;
    c ? x
}
