byte x;
active proctype P() { atomic { lock(); x = 1; unlock() } }
