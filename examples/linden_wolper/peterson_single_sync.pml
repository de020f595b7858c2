/* Linden and Wolper 2010, Table 2: Peterson, single entry + sync */
bool wants[2];
bit turn;

active [2] proctype P() {
    bit me = _pid, other = 1 - _pid;
    do
    :: wants[me] = true;
       turn = other;
       mfence();
       do
       :: wants[other] == false -> break
       :: turn == me -> break
       od;
cs:    skip;
       wants[me] = false;
       break
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
