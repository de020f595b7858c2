byte x;
inline again() { x = 1; again() }
active proctype P() { again() }
