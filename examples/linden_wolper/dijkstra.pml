/* Linden and Wolper 2013, Table 1: Dijkstra, repeated entry, fenced */
byte flag[2];
bit turn;

active [2] proctype P() {
    byte me = _pid, other = 1 - _pid, t;
    do
    :: flag[me] = 1;
       mfence();
retry: t = turn;
       if
       :: t != me ->
          if
          :: flag[t] == 0 -> turn = me
          :: else -> skip
          fi;
          goto retry
       :: else -> skip
       fi;
       flag[me] = 2;
       mfence();
       if
       :: flag[other] == 2 -> goto retry
       :: else -> skip
       fi;
cs:    skip;
       flag[me] = 0
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
