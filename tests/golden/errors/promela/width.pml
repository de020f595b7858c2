byte x : 3;
unsigned y : 40;
active proctype P(byte a[2]) { x = y }
