mtype = { red, green };
active proctype P() { red = 2 }
