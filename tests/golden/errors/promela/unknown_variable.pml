byte flag, turn;
active proctype P() {
    flg = 1;
    turn = other;
    flag[1] = 0
}
