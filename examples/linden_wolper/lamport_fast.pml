/* Linden and Wolper 2013, Table 1: Lamport's fast mutex, repeated entry, fenced */
bool busy[3];
byte x, y;

active [2] proctype P() {
    byte me = _pid + 1, other = 2 - _pid;
start:
    busy[me] = true;
    sfence();
    x = me;
    mfence();
    if
    :: y != 0 ->
       busy[me] = false;
       (y == 0);
       goto start
    :: else -> skip
    fi;
    y = me;
    mfence();
    if
    :: x != me ->
       busy[me] = false;
       mfence();
       (busy[other] == false);
       if
       :: y != me ->
          (y == 0);
          goto start
       :: else -> skip
       fi
    :: else -> skip
    fi;
cs: skip;
    y = 0;
    sfence();
    busy[me] = false;
    goto start
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
