byte x;
active proctype P() { x = 1; mfense(); fence(); mfence(1) }
