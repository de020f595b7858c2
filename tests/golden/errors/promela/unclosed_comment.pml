byte x;
/* what
active proctype P() { x = 1 }
