byte x;
active proctype P() { c_code { now.x = 1; }; x = 1 }
