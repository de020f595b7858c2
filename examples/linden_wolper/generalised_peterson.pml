/* Linden and Wolper 2013, Table 1: Generalised Peterson (filter lock), 3 processes, repeated entry, fenced */
byte level[3], last[3];

active [3] proctype P() {
    byte me = _pid, stage, other;
    do
    :: stage = 1;
       do
       :: stage < 3 ->
          level[me] = stage;
          sfence();
          last[stage] = me;
          mfence();
          other = 0;
          do
          :: other == me -> other++
          :: other == 3 -> break
          :: other < 3 && other != me ->
             if
             :: level[other] < stage -> other++
             :: last[stage] != me -> break
             fi
          od;
          stage++
       :: else -> break
       od;
cs:    skip;
       level[me] = 0
    od
}

ltl mutual_exclusion { [] !((P[0]@cs && P[1]@cs) || (P[0]@cs && P[2]@cs) || (P[1]@cs && P[2]@cs)) }
