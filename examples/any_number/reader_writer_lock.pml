/* A reader-writer lock in one word, for any number of readers and any number of writers.
 *
 * `state` counts the readers inside, at most MOST of them; WRITER says that a writer is. Everybody enters and readers leave
 * by a locked step; a writer leaves by a plain store. With BROKEN, a writer that has seen nobody inside just stores.
 */
#define MOST 2
#define WRITER 3

byte state;

active [*] proctype Reader() {
    do
    :: atomic { state < MOST -> state = state + 1 };
reading: skip;
       atomic { state > 0 -> state = (state == WRITER -> WRITER : state - 1) }
    od
}

active [*] proctype Writer() {
    do
    ::
#ifdef BROKEN
       state == 0 -> state = WRITER;
#else
       atomic { state == 0 -> state = WRITER };
#endif
writing: skip;
       state = 0
    od
}

ltl exclusion { [] !((Reader[0]@reading && Writer[3]@writing) || (Writer[3]@writing && Writer[4]@writing)) }
