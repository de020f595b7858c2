/* Linden and Wolper 2013, Table 1: Peterson, repeated entry, fenced */
bool wants[2];
bit turn;

active [2] proctype P() {
    bit me = _pid, other = 1 - _pid;
    do
    :: wants[me] = true;
       sfence();
       turn = other;
       mfence();
       do
       :: wants[other] == false -> break
       :: turn == me -> break
       od;
cs:    skip;
       wants[me] = false
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
