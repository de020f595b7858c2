/* Linden and Wolper 2010, Table 2: Dekker, repeated entry */
bool wants[2];
bit turn;

active [2] proctype P() {
    bit me = _pid, other = 1 - _pid;
    do
    :: wants[me] = true;
       do
       :: wants[other] == false -> break
       :: else ->
          if
          :: turn == me -> skip
          :: else ->
             wants[me] = false;
             (turn == me);
             wants[me] = true
          fi
       od;
cs:    skip;
       turn = other;
       wants[me] = false
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
