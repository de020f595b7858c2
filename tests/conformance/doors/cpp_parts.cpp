// Parts of C++ one by one: each PART holds; with BROKEN it fails.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <utility>

static std::mutex mutex;
static std::shared_mutex shared;
static std::recursive_mutex recursive;
static std::condition_variable changed;
static std::once_flag once;
static std::atomic<int> entered;
static std::atomic_flag flag = ATOMIC_FLAG_INIT;
static int counter, ready, made;
static std::atomic<long> wide;
static std::atomic<bool> truth;

static std::pair<int, int> twice(std::pair<int, int> p) { return {p.second, p.first}; }
static std::optional<int> positive(int n) { return n > 0 ? std::optional<int>(n) : std::nullopt; }

static void work(int number)
{
    (void)number;
#if PART == 1
#ifndef BROKEN
    std::lock_guard<std::mutex> hold(mutex);
#endif
    ++counter;
#elif PART == 2
    std::unique_lock<std::mutex> hold(mutex);
    if (number) {
        ready = 1;
        changed.notify_one();
    } else {
#ifndef BROKEN
        changed.wait(hold, [] { return ready != 0; });
#else
        if (!ready)
            changed.wait(hold);
#endif
        assert(ready);
    }
#elif PART == 3
    std::call_once(once, [] { ++made; });
#ifndef BROKEN
    assert(made == 1);
#else
    assert(made == 2);
#endif
#elif PART == 4
    while (flag.test_and_set(std::memory_order_acquire))
        ;
    ++counter;
#ifndef BROKEN
    flag.clear(std::memory_order_release);
#else
    flag.clear(std::memory_order_relaxed);
#endif
#elif PART == 5
    auto p = twice({number, 7});
#ifndef BROKEN
    assert(p.first == 7 && p.second == number);
#else
    assert(p.first == number);
#endif
    ++entered;
#elif PART == 6
    auto found = positive(number);
#ifndef BROKEN
    assert(found.value_or(9) == (number ? number : 9));
#else
    assert(found.value_or(9) == number);
#endif
    ++entered;
#elif PART == 7
    std::shared_lock<std::shared_mutex> hold(shared);
    int before = counter;
    assert(before == 0);
#ifdef BROKEN
    counter = 1;
#endif
#elif PART == 8
    std::lock_guard<std::recursive_mutex> outer(recursive);
    std::lock_guard<std::recursive_mutex> inner(recursive);
    ++counter;
#elif PART == 9
    long expected = wide.load(std::memory_order_relaxed);
    while (!wide.compare_exchange_weak(expected, expected + 0x100000000, std::memory_order_acq_rel, std::memory_order_relaxed))
        ;
#elif PART == 10
    static int &instance = *new int(3);
#ifndef BROKEN
    assert(instance == 3);
#else
    ++instance;
#endif
#endif
}

int main()
{
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
#if PART == 1 || PART == 4 || PART == 8
    assert(counter == 2);
#elif PART == 9
#ifndef BROKEN
    assert(wide == 0x200000000);
#else
    assert(wide == 0);
#endif
#endif
    return 0;
}
