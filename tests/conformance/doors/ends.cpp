// Store buffering; where both threads miss each other, the program ends by HOW.
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <exception>
#include <thread>

std::atomic<int> x, y;

static void end()
{
#if HOW == 1
    assert(false);
#elif HOW == 2
    std::abort();
#elif HOW == 3
    std::exit(1);
#elif HOW == 4
    std::terminate();
#elif HOW == 5
    std::quick_exit(1);
#elif HOW == 6
    std::_Exit(1);
#elif HOW == 7
    std::exit(0);
#elif HOW == 8
    throw 1;
#endif
}

int main()
{
    int r = 0, s = 0;
    std::thread a([&] { x.store(1, std::memory_order_relaxed); r = y.load(std::memory_order_relaxed); });
    std::thread b([&] { y.store(1, std::memory_order_relaxed); s = x.load(std::memory_order_relaxed); });
    a.join();
    b.join();
    if (r == 0 && s == 0)
        end();
    return 0;
}
