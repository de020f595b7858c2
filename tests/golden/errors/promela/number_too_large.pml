byte x;
active proctype P() { x = 99999999999; x = 4294967296 }
