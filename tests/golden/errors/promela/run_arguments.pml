byte x;
proctype P(byte me) { x = me }
init { atomic { run P(); run Q(1); run P(1) } }
