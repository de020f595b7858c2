byte x;
inline set(v, w) { v = w }
active proctype P() { set(x); set(x, 1) }
