/* A seqlock: one writer, any number of readers, two words of data.
 *
 * The writer makes the sequence number odd, writes both words, makes it even again. A reader that saw the same even number
 * before and after saw both words of one write. The number does not wrap here: the writer stops after WRITES writes. (If
 * it wrapped, a reader that slept through all of them would be fooled.) TSO needs no fence. With BROKEN, readers do not
 * look again.
 */
#define WRITES 2

byte sequence, first, second;

active [*] proctype Reader() {
    byte before, one, two, after;
    do
    :: before = sequence;
       one = first;
       two = second;
#ifdef BROKEN
       after = before;
#else
       after = sequence;
#endif
       if
       :: before == after && before % 2 == 0 -> assert(one == two)
       :: else
       fi;
       before = 0; one = 0; two = 0; after = 0
    od
}

active proctype Writer() {
    byte number;
    do
    :: number < WRITES ->
       number = number + 1;
       sequence = 2 * number - 1;
       first = number;
       second = number;
       sequence = 2 * number
    :: else -> break
    od
}
