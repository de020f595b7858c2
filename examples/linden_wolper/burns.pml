/* Linden and Wolper 2013, Table 1: Burns, repeated entry, fenced: the first process insists, the second gives way */
bool flag[2];

proctype P(bit me) {
    bit other = 1 - me;
    do
    :: me == 0 ->
       flag[0] = true;
       mfence();
       (flag[1] == false);
       goto cs
    :: me == 1 ->
       (flag[0] == false);
       flag[1] = true;
       mfence();
       if
       :: flag[0] == false -> goto cs
       :: else -> flag[1] = false
       fi;
       goto again;
cs:    skip;
       flag[me] = false;
again: skip
    od
}

init { atomic { run P(0); run P(1) } }

ltl mutual_exclusion { [] !(P[1]@cs && P[2]@cs) }
