byte x;
active proctype P() { np_ -> x = 1 }
