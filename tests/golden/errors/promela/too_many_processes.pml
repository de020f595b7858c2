byte x;
active [300] proctype P() { x = 1 }
active [0] proctype Q() { x = 1 }
