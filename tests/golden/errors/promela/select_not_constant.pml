byte x;
active proctype P() { byte r; select (r : 1 .. x); select (r : 3 .. 1); x = r }
