byte x;
active [2] proctype P() { byte r; cs: r = x }
ltl p { [] !(P@cs) }
ltl q { [] !(P[2]@cs) }
ltl r { [] (r == 0) }
