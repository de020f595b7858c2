byte x;
active proctype P() { cs: x = 1 }
active proctype Q() { P@cs; x = 2 }
