byte x;
active proctype P() {
    do
    :: if :: x == 0 -> x = 1 :: else -> x = 2 fi
    :: x == 1 -> break
    od
}
