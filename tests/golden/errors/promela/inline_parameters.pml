byte x;
inline f(a, 2) { x = a }
active proctype P() { f(1, 2) }
