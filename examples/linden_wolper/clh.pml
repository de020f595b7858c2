/* Linden and Wolper 2013, Table 1: CLH queue lock: each process spins on its predecessor's node */
bool locked[3];
byte tail;

active [2] proctype P() {
    byte node = _pid + 1, before;
    do
    :: locked[node] = true;
       atomic { before = tail; tail = node };
       (locked[before] == false);
cs:    skip;
       locked[node] = false;
       node = before
    od
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
