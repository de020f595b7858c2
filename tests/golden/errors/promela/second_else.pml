byte x;
active proctype P() { if :: x == 1 :: else :: else -> x = 1 fi }
