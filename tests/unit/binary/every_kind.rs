// Programs in one: the argument says which. Each is explored by itself (test_rust_programs.py).
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};
use std::sync::{mpsc, Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock};
use std::thread;

struct Shared<T>(UnsafeCell<T>);
unsafe impl<T> Sync for Shared<T> {}

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);
static PLAIN: Shared<i32> = Shared(UnsafeCell::new(0));
static LOCKED: AtomicBool = AtomicBool::new(false);

fn store_buffering() {
    let a = thread::spawn(|| {
        X.store(1, Release);
        Y.load(Acquire)
    });
    let b = thread::spawn(|| {
        Y.store(1, Release);
        X.load(Acquire)
    });
    let (r, s) = (a.join().unwrap(), b.join().unwrap());
    assert!(r == 1 || s == 1, "both read 0");
}

fn store_buffering_sc() {
    let a = thread::spawn(|| {
        X.store(1, SeqCst);
        Y.load(SeqCst)
    });
    let b = thread::spawn(|| {
        Y.store(1, SeqCst);
        X.load(SeqCst)
    });
    let (r, s) = (a.join().unwrap(), b.join().unwrap());
    assert!(r == 1 || s == 1);
}

fn message_passing() {
    let a = thread::spawn(|| {
        unsafe { *PLAIN.0.get() = 7 };
        X.store(1, Release)
    });
    while X.load(Acquire) == 0 {
        std::hint::spin_loop();
    }
    assert_eq!(unsafe { *PLAIN.0.get() }, 7);
    a.join().unwrap();
}

fn lost_update() {
    let a = thread::spawn(|| unsafe { *PLAIN.0.get() += 1 });
    unsafe { *PLAIN.0.get() += 1 };
    a.join().unwrap();
    assert_eq!(unsafe { *PLAIN.0.get() }, 2, "an update is lost");
}

fn spin_lock() {
    fn add() {
        while LOCKED.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            thread::yield_now();
        }
        unsafe { *PLAIN.0.get() += 1 };
        LOCKED.store(false, Release);
    }
    let (a, b) = (thread::spawn(add), thread::spawn(add));
    a.join().unwrap();
    b.join().unwrap();
    assert_eq!(unsafe { *PLAIN.0.get() }, 2);
}

fn mutex() {
    let total = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let total = total.clone();
            thread::spawn(move || *total.lock().unwrap() += 1)
        })
        .collect();
    for one in threads {
        one.join().unwrap();
    }
    assert_eq!(*total.lock().unwrap(), 2);
}

fn try_lock_fails() {
    let total = Arc::new(Mutex::new(0));
    let other = total.clone();
    let a = thread::spawn(move || *other.lock().unwrap() += 1);
    *total.try_lock().expect("somebody has it") += 1;
    a.join().unwrap();
}

fn scope() {
    let mut numbers = [0, 0];
    let (left, right) = numbers.split_at_mut(1);
    thread::scope(|s| {
        s.spawn(|| left[0] = 1);
        s.spawn(|| right[0] = 2);
    });
    assert_eq!(numbers, [1, 2]);
}

fn condvar() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let a = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let mut is_there = pair.0.lock().unwrap();
    while !*is_there {
        is_there = pair.1.wait(is_there).unwrap();
    }
    drop(is_there);
    a.join().unwrap();
}

fn wait_without_loop() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let a = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let mut is_there = pair.0.lock().unwrap();
    if !*is_there {
        is_there = pair.1.wait(is_there).unwrap();
    }
    assert!(*is_there, "woken for no reason");
    drop(is_there);
    a.join().unwrap();
}

fn lost_wake_up() {
    let pair = Arc::new((Mutex::new(()), Condvar::new()));
    let other = pair.clone();
    let a = thread::spawn(move || {
        X.store(1, SeqCst);
        other.1.notify_one();
    });
    while X.load(SeqCst) == 0 {
        drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
    }
    a.join().unwrap();
}

fn deadlock() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = locks.clone();
    let a = thread::spawn(move || {
        let _one = other.0.lock().unwrap();
        let _two = other.1.lock().unwrap();
    });
    {
        let _two = locks.1.lock().unwrap();
        let _one = locks.0.lock().unwrap();
    }
    a.join().unwrap();
}

fn rw_lock() {
    let number = Arc::new(RwLock::new(1));
    let other = number.clone();
    let a = thread::spawn(move || *other.write().unwrap() = 2);
    let seen = *number.read().unwrap();
    assert!(seen == 1 || seen == 2);
    a.join().unwrap();
    assert_eq!(*number.read().unwrap(), 2);
}

fn once() {
    static ONCE: Once = Once::new();
    static CELL: OnceLock<usize> = OnceLock::new();
    fn begin() -> usize {
        ONCE.call_once(|| {
            X.fetch_add(1, Relaxed);
        });
        *CELL.get_or_init(|| 5)
    }
    let a = thread::spawn(begin);
    assert_eq!(begin() + a.join().unwrap(), 10);
    assert_eq!(X.load(Relaxed), 1);
}

fn park() {
    let me = thread::current();
    let a = thread::spawn(move || {
        X.store(1, Release);
        me.unpark();
    });
    while X.load(Acquire) == 0 {
        thread::park();
    }
    a.join().unwrap();
}

fn park_for_ever() {
    let a = thread::spawn(|| thread::park());
    a.join().unwrap();
}

fn channel() {
    let (sender, receiver) = mpsc::channel();
    let a = thread::spawn(move || sender.send(3).unwrap());
    assert_eq!(receiver.recv(), Ok(3));
    a.join().unwrap();
}

fn barrier() {
    let barrier = Arc::new(Barrier::new(2));
    let other = barrier.clone();
    let a = thread::spawn(move || {
        X.store(1, Relaxed);
        other.wait();
    });
    barrier.wait();
    assert_eq!(X.load(Relaxed), 1);
    a.join().unwrap();
}

thread_local! { static OWN: Cell<usize> = const { Cell::new(1) }; }

fn thread_locals() {
    fn count() -> usize {
        OWN.with(|own| {
            own.set(own.get() + 1);
            X.fetch_add(1, SeqCst);
            own.get()
        })
    }
    let a = thread::spawn(count);
    let b = thread::spawn(count);
    assert_eq!((count(), a.join().unwrap(), b.join().unwrap()), (2, 2, 2));
}

fn thread_local_of_another() {
    let at = OWN.with(|own| own as *const Cell<usize> as usize);
    let a = thread::spawn(move || OWN.with(|own| own as *const Cell<usize> as usize != at));
    assert!(a.join().unwrap(), "two threads share a thread-local variable");
}

fn use_after_free() {
    let number = Box::into_raw(Box::new(AtomicU32::new(0))) as usize;
    let a = thread::spawn(move || unsafe { drop(Box::from_raw(number as *mut AtomicU32)) });
    unsafe { (*(number as *const AtomicU32)).store(1, Relaxed) };
    a.join().unwrap();
}

fn double_drop() {
    let number = Box::into_raw(Box::new(1)) as usize;
    let a = thread::spawn(move || unsafe { drop(Box::from_raw(number as *mut i32)) });
    unsafe { drop(Box::from_raw(number as *mut i32)) };
    a.join().unwrap();
}

fn leak() {
    let a = thread::spawn(|| {
        std::mem::forget(Box::new(5));
    });
    a.join().unwrap();
}

fn panics_elsewhere() {
    let a = thread::spawn(|| {
        let list = vec![1];
        list[X.load(Relaxed) + 1]
    });
    let _ = a.join();
}

fn exits() {
    std::process::exit(3);
}

fn fences() {
    use std::sync::atomic::fence;
    let a = thread::spawn(|| {
        X.store(1, Relaxed);
        fence(SeqCst);
        Y.load(Relaxed)
    });
    let b = thread::spawn(|| {
        Y.store(1, Relaxed);
        fence(SeqCst);
        X.load(Relaxed)
    });
    assert!(a.join().unwrap() + b.join().unwrap() > 0);
}

fn prints() {
    let a = thread::spawn(|| println!("there"));
    println!("here");
    a.join().unwrap();
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("store_buffering") => store_buffering(),
        Some("store_buffering_sc") => store_buffering_sc(),
        Some("message_passing") => message_passing(),
        Some("lost_update") => lost_update(),
        Some("spin_lock") => spin_lock(),
        Some("mutex") => mutex(),
        Some("try_lock_fails") => try_lock_fails(),
        Some("scope") => scope(),
        Some("condvar") => condvar(),
        Some("wait_without_loop") => wait_without_loop(),
        Some("lost_wake_up") => lost_wake_up(),
        Some("deadlock") => deadlock(),
        Some("rw_lock") => rw_lock(),
        Some("once") => once(),
        Some("park") => park(),
        Some("park_for_ever") => park_for_ever(),
        Some("channel") => channel(),
        Some("barrier") => barrier(),
        Some("thread_locals") => thread_locals(),
        Some("thread_local_of_another") => thread_local_of_another(),
        Some("use_after_free") => use_after_free(),
        Some("double_drop") => double_drop(),
        Some("leak") => leak(),
        Some("panics_elsewhere") => panics_elsewhere(),
        Some("exits") => exits(),
        Some("fences") => fences(),
        Some("prints") => prints(),
        other => panic!("{other:?}"),
    }
}
