byte x, y, x;
mtype = { y };
active proctype P() { skip }
