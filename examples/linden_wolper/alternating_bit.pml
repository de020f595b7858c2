/* Linden and Wolper 2013, Table 1: Alternating bit: a message and its acknowledgement pass through one variable each */
byte message, acknowledgement;

active proctype sender() {
    do
    :: message = 1;
       (acknowledgement == 1);
       message = 2;
       (acknowledgement == 2)
    od
}

active proctype receiver() {
    byte seen, expected = 1;
    do
    :: seen = message;
       if
       :: seen == expected -> acknowledgement = seen; expected = 3 - expected
       :: else -> assert(seen == 0 || seen == 3 - expected)
       fi
    od
}
