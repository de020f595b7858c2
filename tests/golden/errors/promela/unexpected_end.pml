byte x;
active proctype P() {
    do
    :: x = 1
