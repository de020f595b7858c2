byte x;
active proctype P() { x = 1 }
never { do :: atomic { do :: x == 1 od } :: np_ && P@nowhere od }
