byte a[0];
byte b[100000];
active proctype P() { a[0] = 1 }
