// Programs of our own after bugs that were reported in public, each wrong and mended: `NAME wrong` or `NAME right`.
// Wrong under store buffers or interleavings; what needs a weaker processor is not here.
use std::cell::UnsafeCell;
use std::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Shared<T>(UnsafeCell<T>);
unsafe impl<T> Sync for Shared<T> {}

// tokio 67869be3: a task that is to be woken, and was notified before, is left alone: a load, and no order behind the data.
fn wake_by_ref(right: bool) {
    static DATA: AtomicUsize = AtomicUsize::new(0);
    static NOTIFIED: AtomicBool = AtomicBool::new(true);
    let wakes = thread::spawn(move || {
        DATA.store(1, Relaxed);
        if right {
            NOTIFIED.swap(true, AcqRel)
        } else {
            NOTIFIED.load(Acquire) || NOTIFIED.swap(true, AcqRel)
        }
    });
    let polls = NOTIFIED.swap(false, AcqRel);
    let seen = DATA.load(Relaxed);
    let was_notified = wakes.join().unwrap();
    let polls_again = NOTIFIED.load(Relaxed);
    assert!(
        polls && (seen == 1 || polls_again || !was_notified),
        "the task sleeps, and its data is there"
    );
}

// dora#3288: a reader that does not look at the version again takes half of what is written.
fn seqlock(right: bool) {
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
    fence(Acquire);
    let is_whole = before % 2 == 0 && (!right || VERSION.load(Relaxed) == before);
    assert!(!is_whole || seen.0 == seen.1, "a torn value");
    writes.join().unwrap();
}

// rayon 6b1367fe: who sets a latch may look at it again when the one that waited has left, and the latch with it.
fn core_latch(right: bool) {
    struct Latch {
        is_set: AtomicBool,
        sleeping: AtomicBool,
    }
    let latch = Box::new(Latch {
        is_set: AtomicBool::new(false),
        sleeping: AtomicBool::new(false),
    });
    let at = &*latch as *const Latch as usize;
    let sets = thread::spawn(move || {
        let latch = at as *const Latch;
        unsafe {
            let sleeps_before = (*latch).sleeping.load(SeqCst);
            (*latch).is_set.store(true, SeqCst);
            if right {
                sleeps_before
            } else {
                (*latch).sleeping.load(SeqCst)
            }
        }
    });
    while !latch.is_set.load(SeqCst) {
        std::hint::spin_loop();
    }
    drop(latch);
    sets.join().unwrap();
}

// iceoryx2#120: an index is published before the slot that it is about.
fn index_queue(right: bool) {
    static SLOT: AtomicUsize = AtomicUsize::new(0);
    static FULL: AtomicUsize = AtomicUsize::new(0);
    let pushes = thread::spawn(move || {
        if right {
            SLOT.store(7, Relaxed);
            FULL.store(1, Release)
        } else {
            FULL.store(1, Release);
            SLOT.store(7, Relaxed)
        }
    });
    if FULL.load(Acquire) == 1 {
        assert_eq!(SLOT.load(Relaxed), 7, "an empty slot");
    }
    pushes.join().unwrap();
}

// A ring for one producer and one consumer: full and empty look the same where no slot stays free.
fn spsc_ring(right: bool) {
    static SLOTS: Shared<[usize; 2]> = Shared(UnsafeCell::new([0; 2]));
    static HEAD: AtomicUsize = AtomicUsize::new(0);
    static TAIL: AtomicUsize = AtomicUsize::new(0);
    let pushes = thread::spawn(move || {
        for value in 1..=3 {
            let tail = TAIL.load(Relaxed);
            let room = if right { 2 } else { 3 };
            if tail - HEAD.load(Acquire) >= room {
                return;
            }
            unsafe { (*SLOTS.0.get())[tail % 2] = value };
            TAIL.store(tail + 1, Release);
        }
    });
    for _ in 0..2 {
        let head = HEAD.load(Relaxed);
        if head == TAIL.load(Acquire) {
            continue;
        }
        assert_eq!(unsafe { (*SLOTS.0.get())[head % 2] }, head + 1, "another value");
        HEAD.store(head + 1, Release);
    }
    pushes.join().unwrap();
}

// A lock that looks and takes in two steps.
fn spin_lock(right: bool) {
    static LOCKED: AtomicBool = AtomicBool::new(false);
    static TOTAL: Shared<usize> = Shared(UnsafeCell::new(0));
    let add = move || {
        if right {
            while LOCKED.compare_exchange(false, true, Acquire, Relaxed).is_err() {
                std::hint::spin_loop();
            }
        } else {
            while LOCKED.load(Acquire) {
                std::hint::spin_loop();
            }
            LOCKED.store(true, Relaxed);
        }
        unsafe { *TOTAL.0.get() += 1 };
        LOCKED.store(false, Release);
    };
    let a = thread::spawn(add);
    add();
    a.join().unwrap();
    assert_eq!(unsafe { *TOTAL.0.get() }, 2, "two had the lock");
}

// An Arc whose count is read again after it was lowered: two may see 0.
fn arc(right: bool) {
    struct Inner {
        count: AtomicUsize,
    }
    let inner = Box::into_raw(Box::new(Inner {
        count: AtomicUsize::new(2),
    })) as usize;
    let release = move || unsafe {
        let inner = inner as *mut Inner;
        let left = (*inner).count.fetch_sub(1, Release) - 1;
        if if right {
            left == 0
        } else {
            (*inner).count.load(Relaxed) == 0
        } {
            fence(Acquire);
            drop(Box::from_raw(inner));
        }
    };
    let a = thread::spawn(release);
    release();
    a.join().unwrap();
}

// Two sides that each say that they sleep, and then look whether there is work: store buffering.
fn sleep_and_work(right: bool) {
    static WORK: AtomicBool = AtomicBool::new(false);
    static SLEEPS: AtomicBool = AtomicBool::new(false);
    let order = move || if right { fence(SeqCst) } else { fence(AcqRel) };
    let gives = thread::spawn(move || {
        WORK.store(true, Release);
        order();
        SLEEPS.load(Acquire)
    });
    SLEEPS.store(true, Release);
    order();
    let has_work = WORK.load(Acquire);
    assert!(gives.join().unwrap() || has_work, "nobody wakes the sleeper");
}

// A condition that is signalled without the mutex of the one that waits.
fn signal(right: bool) {
    static READY: AtomicBool = AtomicBool::new(false);
    let pair = Arc::new((Mutex::new(()), Condvar::new()));
    let other = pair.clone();
    let a = thread::spawn(move || {
        if right {
            let _held = other.0.lock().unwrap();
            READY.store(true, SeqCst);
        } else {
            READY.store(true, SeqCst);
        }
        other.1.notify_one();
    });
    let mut held = pair.0.lock().unwrap();
    while !READY.load(SeqCst) {
        held = pair.1.wait(held).unwrap();
    }
    drop(held);
    a.join().unwrap();
}

// A stack whose pop reads the next node of one that another thread has freed.
fn stack(right: bool) {
    struct Node {
        next: *mut Node,
    }
    static HEAD: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut());
    let second = Box::into_raw(Box::new(Node {
        next: std::ptr::null_mut(),
    }));
    HEAD.store(Box::into_raw(Box::new(Node { next: second })), Release);
    let pop = move || loop {
        let head = HEAD.load(Acquire);
        if head.is_null() {
            return;
        }
        let next = unsafe { (*head).next };
        if HEAD.compare_exchange(head, next, AcqRel, Acquire).is_ok() {
            if !right {
                drop(unsafe { Box::from_raw(head) });
            }
            return;
        }
    };
    let a = thread::spawn(pop);
    pop();
    a.join().unwrap();
}

fn main() {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let right = words[1] == "right";
    match words[0].as_str() {
        "wake_by_ref" => wake_by_ref(right),
        "seqlock" => seqlock(right),
        "core_latch" => core_latch(right),
        "index_queue" => index_queue(right),
        "spsc_ring" => spsc_ring(right),
        "spin_lock" => spin_lock(right),
        "arc" => arc(right),
        "sleep_and_work" => sleep_and_work(right),
        "signal" => signal(right),
        "stack" => stack(right),
        other => panic!("{other}"),
    }
}
