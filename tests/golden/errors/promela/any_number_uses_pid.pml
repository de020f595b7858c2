byte turn;

active [*] proctype P() {
    turn = _pid
}
