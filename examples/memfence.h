/* Lets Spin read models with fences: it checks sequential consistency, where a fence does nothing. memfence ignores this. */
#ifndef MEMFENCE
#define mfence() skip
#define sfence() skip
#define lock() atomic { skip
#define unlock() skip }
#endif

/* Operations of C11 and of hardware, for both: read-modify-writes are atomic and empty the store buffer first. */
inline cas(done, place, expected, desired) {
    atomic {
        if
        :: place == expected -> place = desired; done = 1
        :: else -> done = 0
        fi
    }
}
inline xchg(old, place, desired) { atomic { old = place; place = desired } }
inline fetch_add(old, place, by) { atomic { old = place; place = place + by } }
inline release_store(place, desired) { sfence(); place = desired }
