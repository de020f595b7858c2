// Programs in one, as in every_kind.rs. The argument says which, and what is expected of it: v, violated; h, nothing goes wrong.
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::HashMap;
use std::sync::atomic::{Ordering::*, *};
use std::sync::*;
use std::thread;
use std::time::{Duration, Instant};
static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);
struct S<T>(UnsafeCell<T>);
unsafe impl<T> Sync for S<T> {}
static P: S<[u64; 4]> = S(UnsafeCell::new([0; 4]));
fn recurse(n: usize) -> usize {
    if n == usize::MAX {
        0
    } else {
        1 + recurse(n + 1)
    }
}
struct D(&'static AtomicUsize);
impl Drop for D {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}
thread_local! { static TL: RefCell<Option<D>> = const { RefCell::new(None) }; static LAZY: Cell<usize> = Cell::new(X.load(SeqCst)+5); }
static LZ: LazyLock<usize> = LazyLock::new(|| {
    Y.fetch_add(1, SeqCst);
    7
});
fn t2(a: impl FnOnce() + Send + 'static, b: impl FnOnce() + Send + 'static) {
    let a = thread::spawn(a);
    let b = thread::spawn(b);
    a.join().unwrap();
    b.join().unwrap();
}
fn main() {
    match std::env::args().nth(1).unwrap().as_str() {
        "v:overflow" => {
            let a = thread::spawn(|| {
                let x = X.load(Relaxed) as u8;
                x.wrapping_sub(1) + (1 + x)
            });
            let _ = a.join();
        }
        "v:unwrap_none" => {
            let x: Option<u8> = if X.load(Relaxed) == 0 { None } else { Some(1) };
            x.unwrap();
        }
        "v:abort" => std::process::abort(),
        "v:recursion" => {
            println!("{}", recurse(X.load(Relaxed)));
        }
        "v:catch_unwind" => {
            let _ = std::panic::catch_unwind(|| panic!("caught"));
        }
        "v:null" => unsafe {
            let p = X.load(Relaxed) as *const u8;
            std::ptr::read_volatile(p);
        },
        "h:tls_drop" => {
            thread::spawn(|| TL.with(|t| *t.borrow_mut() = Some(D(&X))))
                .join()
                .unwrap();
            assert_eq!(X.load(SeqCst), 1);
        }
        "h:lazy_tls" => {
            let a = thread::spawn(|| {
                LAZY.with(|l| {
                    l.set(l.get() + 1);
                    l.get()
                })
            });
            assert_eq!(LAZY.with(|l| l.get()), 5);
            assert_eq!(a.join().unwrap(), 6);
        }
        "h:lazylock" => {
            t2(|| assert_eq!(*LZ, 7), || assert_eq!(*LZ, 7));
            assert_eq!(Y.load(SeqCst), 1);
        }
        "h:sync0" => {
            let (s, r) = mpsc::sync_channel(0);
            let a = thread::spawn(move || s.send(1).unwrap());
            assert_eq!(r.recv().unwrap(), 1);
            a.join().unwrap();
        }
        "h:sync1" => {
            let (s, r) = mpsc::sync_channel(1);
            let a = thread::spawn(move || {
                s.send(1).unwrap();
                s.send(2).unwrap()
            });
            assert_eq!(r.iter().collect::<Vec<_>>(), vec![1, 2]);
            a.join().unwrap();
        }
        "h:sleep" => {
            let a = thread::spawn(|| {
                thread::sleep(Duration::from_millis(10));
                X.store(1, SeqCst)
            });
            a.join().unwrap();
            assert_eq!(X.load(SeqCst), 1);
        }
        "v:sleep_is_no_sync" => {
            let a = thread::spawn(|| X.store(1, SeqCst));
            thread::sleep(Duration::from_secs(10));
            assert_eq!(X.load(SeqCst), 1);
            a.join().unwrap();
        }
        "h:instant" => {
            let t = Instant::now();
            let a = thread::spawn(move || t.elapsed());
            assert!(a.join().unwrap() > Duration::ZERO);
        }
        "h:hash" => {
            let a = thread::spawn(|| {
                let mut m = HashMap::new();
                m.insert(1, 2);
                m[&1]
            });
            assert_eq!(a.join().unwrap(), 2);
        }
        "h:builder" => {
            let a = thread::Builder::new()
                .name("w".into())
                .spawn(|| thread::current().name() == Some("w"))
                .unwrap();
            assert!(a.join().unwrap());
        }
        "h:nested_scope" => {
            let n = AtomicUsize::new(0);
            thread::scope(|s| {
                s.spawn(|| {
                    thread::scope(|t| {
                        t.spawn(|| n.fetch_add(1, SeqCst));
                    })
                });
            });
            assert_eq!(n.into_inner(), 1);
        }
        "h:scope_join" => {
            let v = vec![1, 2];
            let r = thread::scope(|s| {
                let a = s.spawn(|| v[0]);
                let b = s.spawn(|| v[1]);
                a.join().unwrap() + b.join().unwrap()
            });
            assert_eq!(r, 3);
        }
        "v:scope_panic" => {
            thread::scope(|s| {
                s.spawn(|| panic!("inside"));
            });
        }
        "h:rwlock_two_readers" => {
            let l = RwLock::new(1);
            thread::scope(|s| {
                s.spawn(|| {
                    let g = l.read().unwrap();
                    X.store(1, SeqCst);
                    while Y.load(SeqCst) == 0 {
                        std::hint::spin_loop()
                    }
                    drop(g)
                });
                let g = l.read().unwrap();
                Y.store(1, SeqCst);
                while X.load(SeqCst) == 0 {
                    std::hint::spin_loop()
                }
                drop(g);
            });
        }
        "v:rwlock_upgrade" => {
            let l = RwLock::new(1);
            let _r = l.read().unwrap();
            let _w = l.write().unwrap();
        }
        "v:relock" => {
            let m = Mutex::new(1);
            let _a = m.lock().unwrap();
            let _b = m.lock().unwrap();
        }
        "h:arc_unwrap" => {
            let a = Arc::new(5);
            let b = a.clone();
            let t = thread::spawn(move || Arc::try_unwrap(b).is_ok());
            let mine = Arc::try_unwrap(a).is_ok();
            let other = t.join().unwrap();
            assert!(!(mine && other));
        }
        "h:weak" => {
            let a = Arc::new(5);
            let w = Arc::downgrade(&a);
            let t = thread::spawn(move || w.upgrade().map(|x| *x));
            drop(a);
            assert!(matches!(t.join().unwrap(), None | Some(5)));
        }
        "v:weak_count" => {
            let a = Arc::new(5);
            let w = Arc::downgrade(&a);
            let t = thread::spawn(move || w.upgrade().is_some());
            drop(a);
            assert!(t.join().unwrap());
        }
        "h:u8u16i64ptr" => {
            static A: AtomicU8 = AtomicU8::new(250);
            static B: AtomicI16 = AtomicI16::new(-1);
            static C: AtomicI64 = AtomicI64::new(-5);
            static Q: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
            t2(
                || {
                    A.fetch_add(10, SeqCst);
                    B.fetch_max(3, SeqCst);
                    C.fetch_min(-7, SeqCst);
                    Q.store(8 as *mut u8, SeqCst);
                },
                || {
                    A.fetch_sub(1, SeqCst);
                    B.fetch_nand(1, SeqCst);
                    C.fetch_update(SeqCst, SeqCst, |x| Some(x * 2)).unwrap();
                    Q.swap(16 as *mut u8, SeqCst);
                },
            );
            assert_eq!(A.load(SeqCst), 3);
            assert!(matches!(C.load(SeqCst), -10 | -14));
            assert!(matches!(Q.load(SeqCst) as usize, 8 | 16));
        }
        "v:torn_copy" => {
            let a = thread::spawn(|| unsafe { *P.0.get() = [1; 4] });
            let v = unsafe { *P.0.get() };
            assert!(v == [0; 4] || v == [1; 4]);
            a.join().unwrap();
        }
        "h:wait_timeout" => {
            let p = Arc::new((Mutex::new(false), Condvar::new()));
            let q = p.clone();
            let a = thread::spawn(move || {
                *q.0.lock().unwrap() = true;
                q.1.notify_all();
            });
            let g = p.0.lock().unwrap();
            let (g, r) = p.1.wait_timeout_while(g, Duration::from_millis(5), |x| !*x).unwrap();
            assert!(*g || r.timed_out());
            drop(g);
            a.join().unwrap();
        }
        "v:recv_timeout" => {
            let (s, r) = mpsc::channel();
            let a = thread::spawn(move || s.send(1).unwrap());
            r.recv_timeout(Duration::from_secs(100)).expect("in time");
            a.join().unwrap();
        }
        "h:detached" => {
            drop(thread::spawn(|| X.store(1, SeqCst)));
        }
        "v:detached_late" => {
            drop(thread::spawn(|| X.store(1, SeqCst)));
            assert_eq!(X.load(SeqCst), 1);
        }
        "h:parallelism" => {
            let _ = thread::available_parallelism();
        }
        "h:asm" => unsafe {
            std::arch::asm!("nop");
        },
        "h:vec_push" => {
            let v = Arc::new(Mutex::new(Vec::new()));
            let w = v.clone();
            t2(move || w.lock().unwrap().push(1), {
                let v = v.clone();
                move || v.lock().unwrap().push(2)
            });
            let mut g = v.lock().unwrap().clone();
            g.sort();
            assert_eq!(g, [1, 2]);
        }
        "v:vec_race" => {
            static V: S<Vec<u64>> = S(UnsafeCell::new(Vec::new()));
            t2(|| unsafe { (*V.0.get()).push(1) }, || unsafe { (*V.0.get()).push(2) });
            assert_eq!(unsafe { (*V.0.get()).len() }, 2);
        }
        "v:sb_slice" => {
            static F: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
            let a = thread::spawn(|| {
                F[0].store(true, Release);
                !F[1].load(Acquire)
            });
            F[1].store(true, Release);
            let b = !F[0].load(Acquire);
            assert!(!(a.join().unwrap() && b));
        }
        "h:once_poison" => {
            static O: Once = Once::new();
            t2(
                || {
                    O.call_once(|| {
                        X.fetch_add(1, SeqCst);
                    })
                },
                || {
                    O.call_once(|| {
                        X.fetch_add(1, SeqCst);
                    })
                },
            );
            assert_eq!(X.load(SeqCst), 1);
        }
        "h:seqcst_store_x86" => {
            t2(
                || {
                    X.store(1, SeqCst);
                    Y.swap(0, Relaxed);
                },
                || {},
            );
        }
        "h:barrier3" => {
            let b = Barrier::new(2);
            let l = thread::scope(|s| {
                let a = s.spawn(|| b.wait().is_leader());
                let m = b.wait().is_leader();
                a.join().unwrap() as u8 + m as u8
            });
            assert_eq!(l, 1);
        }
        other => panic!("{other}"),
    }
}
