byte n = 2;
byte a[n];
active [n] proctype P() { a[0] = 1 }
