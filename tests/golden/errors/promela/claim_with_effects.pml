byte x;
active proctype P() { x = 1 }
never { byte i; do :: x = 2 :: atomic { do :: x == 1 od } :: d_step { x == 1 } od }
