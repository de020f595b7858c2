byte flag[2];
active proctype P() { byte mine[2]; mine[2] = 1; flag[_pid + 2] = mine[0] }
