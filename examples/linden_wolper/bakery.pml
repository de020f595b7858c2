/* Linden and Wolper 2013, Table 1: Lamport's bakery, single entry, fenced */
bool choosing[2];
byte ticket[2];

active [2] proctype P() {
    byte me = _pid, other = 1 - _pid;
    byte highest, theirs;
    choosing[me] = true;
    mfence();
    highest = ticket[other];
    ticket[me] = highest + 1;
    sfence();
    choosing[me] = false;
    mfence();
    (choosing[other] == false);
    do
    :: theirs = ticket[other];
       if
       :: theirs == 0 -> break
       :: theirs > highest + 1 -> break
       :: theirs == highest + 1 && other > me -> break
       :: else -> skip
       fi
    od;
cs: skip;
    ticket[me] = 0
}

ltl mutual_exclusion { [] !(P[0]@cs && P[1]@cs) }
