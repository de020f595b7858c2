byte x;
active proctype P() { cs: x = 1 }
ltl p { [] (x == ) }
ltl q { }
ltl r { [] !(P@sc) }
ltl s { [] (P:y == 0) }
ltl t { [] (Q@cs -> x == 1) }
ltl u { <> z }
