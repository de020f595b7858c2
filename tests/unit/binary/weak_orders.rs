// Programs of our own after bugs that were reported in public, as in reported.rs: wrong under C11's memory model only, since
// their orders are too weak. `NAME wrong` or `NAME right`.
use std::cell::UnsafeCell;
use std::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicUsize, Ordering, Ordering::*};
use std::thread;

struct Shared<T>(UnsafeCell<T>);
unsafe impl<T> Sync for Shared<T> {}

// iceoryx2#120: the index is published without an order, and the slot is read before it is there.
fn index_queue(publish: Ordering) {
    static SLOT: Shared<usize> = Shared(UnsafeCell::new(0));
    static FULL: AtomicUsize = AtomicUsize::new(0);
    let pushes = thread::spawn(move || {
        unsafe { *SLOT.0.get() = 7 };
        FULL.store(1, publish)
    });
    if FULL.load(Acquire) == 1 {
        assert_eq!(unsafe { *SLOT.0.get() }, 7);
    }
    pushes.join().unwrap();
}

// parking_lot 8c36d8c: a compare-exchange that fails tells of what another thread did, and has to acquire it.
fn failing_exchange(failing: Ordering) {
    static DATA: AtomicUsize = AtomicUsize::new(0);
    static STATE: AtomicUsize = AtomicUsize::new(0);
    let sets = thread::spawn(|| {
        DATA.store(1, Relaxed);
        STATE.store(1, Release)
    });
    if STATE.compare_exchange(0, 2, AcqRel, failing) == Err(1) {
        assert_eq!(DATA.load(Relaxed), 1, "old data");
    }
    sets.join().unwrap();
}

// rust#121626: a queue of waiters whose head is loaded without an order; the node behind it is not there yet.
fn waiter_queue(load: Ordering) {
    struct Node {
        value: AtomicUsize,
    }
    static HEAD: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut());
    static NODE: Node = Node {
        value: AtomicUsize::new(0),
    };
    let adds = thread::spawn(|| {
        NODE.value.store(3, Relaxed);
        HEAD.store(&NODE as *const Node as *mut Node, Release)
    });
    let head = HEAD.load(load);
    if !head.is_null() {
        assert_eq!(
            unsafe { (*head).value.load(Relaxed) },
            3,
            "a node that is not there yet"
        );
    }
    adds.join().unwrap();
}

// A spin lock whose unlock has no order: what it guards races.
fn spin_lock(unlock: Ordering) {
    static LOCKED: AtomicBool = AtomicBool::new(false);
    static TOTAL: Shared<usize> = Shared(UnsafeCell::new(0));
    let add = move || {
        while LOCKED.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            std::hint::spin_loop();
        }
        unsafe { *TOTAL.0.get() += 1 };
        LOCKED.store(false, unlock);
    };
    let a = thread::spawn(add);
    add();
    a.join().unwrap();
    assert_eq!(unsafe { *TOTAL.0.get() }, 2);
}

// An Arc that drops with relaxed orders: the last one does not know what the others did with the value.
fn arc(drops: Ordering) {
    static COUNT: AtomicUsize = AtomicUsize::new(2);
    static VALUE: Shared<usize> = Shared(UnsafeCell::new(0));
    let release = move |writes: bool| {
        if writes {
            unsafe { *VALUE.0.get() = 1 };
        }
        if COUNT.fetch_sub(1, drops) == 1 {
            fence(Acquire);
            unsafe { *VALUE.0.get() = 9 };
        }
    };
    let a = thread::spawn(move || release(true));
    release(false);
    a.join().unwrap();
}

// dora#3288: a seqlock whose reader looks at the version again before it has read.
fn seqlock(between: bool) {
    static VERSION: AtomicUsize = AtomicUsize::new(0);
    static DATA: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let writes = thread::spawn(|| {
        VERSION.store(1, Relaxed);
        fence(Release);
        DATA[0].store(1, Relaxed);
        DATA[1].store(1, Relaxed);
        VERSION.store(2, Release);
    });
    let before = VERSION.load(Acquire);
    let seen = (DATA[0].load(Relaxed), DATA[1].load(Relaxed));
    if between {
        fence(Acquire);
    }
    if before % 2 == 0 && VERSION.load(Relaxed) == before {
        assert_eq!(seen.0, seen.1, "a torn value");
    }
    writes.join().unwrap();
}

// A ring for one producer and one consumer whose tail is published without an order.
fn spsc_ring(publish: Ordering) {
    static SLOTS: [Shared<usize>; 2] = [const { Shared(UnsafeCell::new(0)) }; 2];
    static TAIL: AtomicUsize = AtomicUsize::new(0);
    static HEAD: AtomicUsize = AtomicUsize::new(0);
    let pushes = thread::spawn(move || {
        for value in 1..=2 {
            let tail = TAIL.load(Relaxed);
            if tail - HEAD.load(Acquire) == 2 {
                return;
            }
            unsafe { *SLOTS[tail % 2].0.get() = value };
            TAIL.store(tail + 1, publish);
        }
    });
    let head = HEAD.load(Relaxed);
    if head != TAIL.load(Acquire) {
        assert_eq!(unsafe { *SLOTS[head % 2].0.get() }, head + 1);
        HEAD.store(head + 1, Release);
    }
    pushes.join().unwrap();
}

fn main() {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let right = words[1] == "right";
    let of = |order| if right { order } else { Relaxed };
    match words[0].as_str() {
        "index_queue" => index_queue(of(Release)),
        "failing_exchange" => failing_exchange(of(Acquire)),
        "waiter_queue" => waiter_queue(of(Acquire)),
        "spin_lock" => spin_lock(of(Release)),
        "arc" => arc(of(Release)),
        "seqlock" => seqlock(right),
        "spsc_ring" => spsc_ring(of(Release)),
        other => panic!("{other}"),
    }
}
