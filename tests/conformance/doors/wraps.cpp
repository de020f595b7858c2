// Arithmetic of atomics wraps around, also where libc++ computes the result beside it; other arithmetic does not.
#include <atomic>
#include <cassert>
#include <climits>
#include <thread>

std::atomic<int> number{INT_MAX};
std::atomic<long> large{LONG_MIN};

int main() {
    std::thread other([] {
        assert(++number == INT_MIN);
        assert((large -= 1) == LONG_MAX);
#ifdef WRONG
        int mine = number.fetch_sub(1) - 1;
        assert(mine != 0);
#endif
    });
    other.join();
    assert(--large == LONG_MAX - 1);
}
