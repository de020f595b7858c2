/* Linden and Wolper 2013, Table 1: Szymanski, repeated entry, fenced */
byte flag[2];

active [2] proctype P() {
    byte me = _pid, other = 1 - _pid;
    do
    :: flag[me] = 1;
       mfence();
       (flag[other] < 3);
       flag[me] = 3;
       mfence();
       if
       :: flag[other] == 1 ->
          flag[me] = 2;
          mfence();
          (flag[other] == 4)
       :: else -> skip
       fi;
       flag[me] = 4;
       mfence();
       if
       :: me == 1 -> (flag[other] < 2)
       :: else -> skip
       fi;
cs:    skip;
       if
       :: me == 0 -> (flag[other] < 2 || flag[other] > 3)
       :: else -> skip
       fi;
       flag[me] = 0;
       mfence()
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
