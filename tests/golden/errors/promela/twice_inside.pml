byte x;
active proctype P() { byte r; byte r; here: x = 1; here: x = 2 }
active proctype P() { skip }
init { skip }
init { skip }
