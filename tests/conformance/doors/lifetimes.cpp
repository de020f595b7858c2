// What a thread uses has to outlive it: members are destroyed in the order in which they were declared, the last first.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int*> published{nullptr};

struct Owner {
    int value = 1;
    ~Owner() { published = nullptr; }
};

static thread_local Owner owner;

struct Joins {
    std::thread thread;
    ~Joins() { thread.join(); }
};

static void work(int* where) { *where = 2; }

int main() {
#if KIND == 1
    int x = 1;
    Joins joins;
    joins.thread = std::thread(work, &x);
#elif KIND == 2 /* x is gone first */
    Joins joins;
    {
        int x = 1;
        joins.thread = std::thread(work, &x);
    }
#elif KIND == 3 /* the same, at the end of main */
    Joins joins;
    int x = 1;
    joins.thread = std::thread(work, &x);
#elif KIND == 4 || KIND == 5 /* 5 does not wait for the end of the thread */
    std::thread owning([] { published = &owner.value; });
#if KIND == 4
    owning.join();
    int* found = published;
    assert(found == nullptr);
#else
    int* found = published;
    if (found)
        *found = 2;
    owning.join();
#endif
#endif
    return 0;
}
