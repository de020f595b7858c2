// std::call_once runs its function once, and everybody waits for it; a sleep orders nothing. WRONG says the opposite.
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>

std::once_flag flag;
int number;

void work() {
    std::call_once(flag, [] { number++; });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
#ifdef WRONG
    assert(number == 2);
#else
    assert(number == 1);
#endif
}

int main() {
    std::thread one(work), two(work);
    one.join();
    two.join();
}
