// What runs at the end of a thread and of the process; WRONG says the opposite.
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <thread>

#ifdef WRONG
#define CLAIM(x) assert(!(x))
#else
#define CLAIM(x) assert(x)
#endif

#if PART == 1  // the constructor of a thread-local runs in each thread
struct Kept {
    int number;
    Kept() : number(1) {}
};
thread_local Kept kept;
int main() {
    std::thread other([] { CLAIM(kept.number == 1); });
    other.join();
}
#elif PART == 2  // so does what computes its first value
int five() { return 5; }
thread_local int kept = five();
int main() {
    std::thread other([] {
        assert(kept == 5);
        kept = 6;
    });
    other.join();
    CLAIM(kept == 5);
}
#elif PART == 3  // the destructor of a thread-local runs before the thread can be joined
std::atomic<int> living{0};
struct Kept {
    Kept() { living++; }
    ~Kept() { living--; }
};
void work() {
    thread_local Kept kept;
    assert(living > 0);
}
int main() {
    std::thread one(work), two(work);
    one.join();
    two.join();
    CLAIM(living == 0);
}
#elif PART == 4  // destructors of globals and of static locals, the last first
int order;
struct First {
    ~First() { CLAIM(order == 2); }
} first;
struct Second {
    ~Second() {
        assert(order == 1);
        order = 2;
    }
};
void end() {
    assert(order == 0);
    order = 1;
}
int main() {
    static Second second;
    std::atexit(end);
}
#elif PART == 5  // a global thread that can be joined: std::terminate
struct Owner {
    std::thread thread;
#ifndef WRONG
    ~Owner() { thread.join(); }
#endif
} owner;
int main() {
    owner.thread = std::thread([] {});
}
#elif PART == 6  // a static local that a thread makes is destroyed by main
struct Kept {
    int number = 3;
    ~Kept() { CLAIM(number == 4); }
};
Kept &kept() {
    static Kept one;
    return one;
}
int main() {
    std::thread other([] { kept().number = 4; });
    other.join();
}
#elif PART == 7  // a thread may use a global after it was destroyed: nobody waits for the thread
struct Kept {
    std::atomic<int> number{1};
    ~Kept() { number = 0; }
} kept;
int main() {
    std::thread other([] { CLAIM(kept.number >= 0); });
    other.detach();
}
#elif PART == 8  // the thread-local of main is destroyed before what is global
int order;
struct Global {
    ~Global() { CLAIM(order == 1); }
} global;
struct Local {
    int number = 0;
    ~Local() { order++; }
};
thread_local Local local;
int main() {
    local.number = 1;
    std::thread other([] {});
    other.join();
}
#elif PART == 9  // exit by a thread destroys its own thread-local, and no other's
struct Local {
    int number = 0;
    ~Local() { CLAIM(number == 2); }
};
thread_local Local local;
int main() {
    local.number = 1;
    std::thread other([] {
        local.number = 2;
        std::exit(0);
    });
    other.join();
}
#endif
