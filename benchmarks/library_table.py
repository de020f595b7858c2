"""The libraries of `libraries.py`: where each is, its client, and one order or fence less in it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Module:
    """One module of a library. `package`: of Debian. `client`: a file of `clients/`, with these macros; `portable`:
    more of them for C11 and ARM. `weaker`: a header, a text in it, and the weaker text; the first place behind
    `near`."""

    name: str
    package: str
    client: str
    macros: dict[str, str]
    weaker: tuple[str, str, str]
    near: str = ""
    portable: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    flags: tuple[str, ...] = field(default=())


UNFENCED = ("ck_pr_fence_unlock();", "ck_pr_barrier();")
BUILTINS = ("CK_USE_CC_BUILTINS=1", "CK_MD_RMO")
"""Concurrency Kit for any processor: compilers' builtins, and no order but that of fences."""


def ck_lock(kind: str, weaker: tuple[str, str], **macros: str) -> Module:
    name, shared = f"ck_spinlock_{kind}", f"CK_SPINLOCK_{kind.upper()}_INITIALIZER"
    usual = {
        "HEADER": "<ck_spinlock.h>",
        "SHARED": f"static {name}_t lock = {shared};",
        "START": "",
        "LOCAL": "",
        "ENTER": f"{name}_lock(&lock)",
        "LEAVE": f"{name}_unlock(&lock)",
    }
    near = f"{name}_unlock(" if weaker == UNFENCED else f"{name}_lock("
    change = (f"spinlock/{kind}.h", *weaker)
    return Module(name, "libck-dev", "lock.c", {**usual, **macros}, change, near, BUILTINS)


def ck_pairs(name: str, header: str, weaker: tuple[str, str], near: str, **macros: str) -> Module:
    change = (header, *weaker)
    usual = {"HEADER": f"<{header}>", "START": "", "LOCAL": ""}
    return Module(name, "libck-dev", "pairs.c", {**usual, **macros}, change, near, BUILTINS)


def readers(name: str, start: str, arguments: tuple[str, str] = ("", "")) -> dict[str, str]:
    writing, reading = (f"&lock{more}" for more in arguments)
    return {
        "SHARED": f"static {name}_t lock = {start};",
        "WRITE_ENTER": f"{name}_write_lock({writing})",
        "WRITE_LEAVE": f"{name}_write_unlock(&lock)",
        "READ_ENTER": f"{name}_read_lock({reading})",
        "READ_LEAVE": f"{name}_read_unlock({reading})",
    }


def ck_exchange(name: str, header: str, weaker: tuple[str, str], near: str, **macros: str) -> Module:
    change = (header, *weaker)
    usual = {"HEADER": f"<{header}>", "START": "", "NODE": ""}
    return Module(name, "libck-dev", "exchange.c", {**usual, **macros}, change, near, BUILTINS)


def ring(kind: str) -> dict[str, str]:
    return {
        "SHARED": "static ck_ring_t ring; static ck_ring_buffer_t buffer[4];",
        "START": "ck_ring_init(&ring, 4)",
        "PUT(i)": f"while (!ck_ring_enqueue_{kind}(&ring, buffer, i))",
        "TAKE(i)": f"ck_ring_dequeue_{kind}(&ring, buffer, &i)",
    }


def stack(kind: str) -> dict[str, str]:
    return {
        "NODE": "ck_stack_entry_t node;",
        "SHARED": "static ck_stack_t stack = CK_STACK_INITIALIZER;",
        "PUT(i)": f"ck_stack_push_{kind}(&stack, &(i)->node)",
        "TAKE(i)": f"(i = (struct item *)ck_stack_pop_{kind}(&stack))",
    }


GENERIC = ("rte_spinlock.h", "rte_rwlock.h")
"""Of DPDK, what a processor has code of its own for: the portable one is in another folder."""


def dpdk(name: str, client: str, header: str, weaker: tuple[str, str], near: str, **macros: str) -> Module:
    folders = ("/usr/include/dpdk", "/usr/include/x86_64-linux-gnu/dpdk")
    flags = ("-include", "rte_config.h", "-msse4.2")
    usual = {"HEADER": f"<{header}>", "START": "", "LOCAL": ""}
    return Module(
        name,
        "libdpdk-dev",
        client,
        {**usual, **macros},
        (f"generic/{header}" if header in GENERIC else header, *weaker),
        near,
        ("RTE_FORCE_INTRINSICS",),
        folders,
        flags,
    )


def atomic_queue(name: str, queue: str, weaker: tuple[str, str], near: str) -> Module:
    macros = {
        "HEADER": "<atomic_queue/atomic_queue.h>",
        "PRODUCERS": "2",
        "QUEUE": f"atomic_queue::{queue} queue" + ("(2)" if queue.endswith("B<int>") else ""),
        "PUT(n)": "queue.push(n)",
        "TAKE(n)": "queue.try_pop(n)",
    }
    header = "atomic_queue/atomic_queue.h"
    return Module(name, "libatomic-queue-dev", "exchange.cpp", macros, (header, *weaker), near)


TICKET_IN_TWO = ("head = head_.fetch_add(1, memory_order);", "head = head_.load(X); head_.store(head + 1, X);")


def exchange(
    name: str,
    package: str,
    header: str,
    queue: str,
    put: str,
    take: str,
    weaker: tuple[str, str, str],
    producers: int = 1,
) -> Module:
    macros = {"HEADER": header, "QUEUE": f"{queue} queue", "PUT(n)": put, "TAKE(n)": take, "PRODUCERS": str(producers)}
    return Module(name, package, "exchange.cpp", macros, weaker)


LOCK = ("ck_pr_fence_lock();", "ck_pr_barrier();")
LOAD, STORE = (("ck_pr_fence_load();", "ck_pr_barrier();"), ("ck_pr_fence_store();", "ck_pr_barrier();"))
MODULES = (
    ck_lock("fas", UNFENCED),
    ck_lock("cas", UNFENCED),
    ck_lock("dec", UNFENCED),
    ck_lock(
        "ticket",
        (
            "request = CK_SPINLOCK_TICKET_FAA(&ticket->value,\n\t    CK_SPINLOCK_TICKET_INCREMENT);",
            "request = ticket->value; ticket->value = request + CK_SPINLOCK_TICKET_INCREMENT;",
        ),
    ),
    ck_lock(
        "mcs",
        ("previous = ck_pr_fas_ptr(queue, node);", "previous = *queue; ck_pr_store_ptr(queue, node);"),
        LOCAL="ck_spinlock_mcs_context_t node;",
        ENTER="ck_spinlock_mcs_lock(&lock, &node)",
        LEAVE="ck_spinlock_mcs_unlock(&lock, &node)",
    ),
    ck_lock(
        "clh",
        UNFENCED,
        SHARED="static ck_spinlock_clh_t *lock, nodes[3];",
        START="ck_spinlock_clh_init(&lock, &nodes[0])",
        LOCAL="ck_spinlock_clh_t *node = &nodes[me + 1];",
        ENTER="ck_spinlock_clh_lock(&lock, node)",
        LEAVE="ck_spinlock_clh_unlock(&node)",
    ),
    ck_lock(
        "anderson",
        UNFENCED,
        SHARED="static ck_spinlock_anderson_t lock; static ck_spinlock_anderson_thread_t slots[2];",
        START="ck_spinlock_anderson_init(&lock, slots, 2)",
        LOCAL="ck_spinlock_anderson_thread_t *slot;",
        ENTER="ck_spinlock_anderson_lock(&lock, &slot)",
        LEAVE="ck_spinlock_anderson_unlock(&lock, slot)",
    ),
    ck_lock(
        "hclh",
        (
            "previous = ck_pr_fas_ptr(local_queue, thread);",
            "previous = *local_queue; ck_pr_store_ptr(local_queue, thread);",
        ),
        SHARED="static ck_spinlock_hclh_t *lock, *local, nodes[4];",
        START="ck_spinlock_hclh_init(&lock, &nodes[0], -1); ck_spinlock_hclh_init(&local, &nodes[1], 0)",
        LOCAL="ck_spinlock_hclh_t *node = &nodes[me + 2]; node->cluster_id = 0;",
        ENTER="ck_spinlock_hclh_lock(&lock, &local, node)",
        LEAVE="ck_spinlock_hclh_unlock(&node)",
    ),
    ck_pairs(
        "ck_rwlock",
        "ck_rwlock.h",
        LOAD,
        "ck_rwlock_read_lock(",
        **readers("ck_rwlock", "CK_RWLOCK_INITIALIZER"),
    ),
    ck_pairs("ck_pflock", "ck_pflock.h", LOCK, "ck_pflock_read_lock(", **readers("ck_pflock", "CK_PFLOCK_INITIALIZER")),
    ck_pairs(
        "ck_swlock", "ck_swlock.h", LOCK, "ck_swlock_write_lock(", **readers("ck_swlock", "CK_SWLOCK_INITIALIZER")
    ),
    ck_pairs(
        "ck_tflock_ticket",
        "ck_tflock.h",
        LOCK,
        "ck_tflock_ticket_read_lock(",
        **readers("ck_tflock_ticket", "CK_TFLOCK_TICKET_INITIALIZER"),
    ),
    ck_pairs(
        "ck_bytelock",
        "ck_bytelock.h",
        ("ck_pr_fas_8(&bytelock->readers[slot], true);", "ck_pr_store_8(&bytelock->readers[slot], true);"),
        "ck_bytelock_read_lock(",
        **readers("ck_bytelock", "CK_BYTELOCK_INITIALIZER", (", 1", ", 2")),
    ),
    ck_pairs(
        "ck_brlock",
        "ck_brlock.h",
        LOCK,
        "ck_brlock_write_lock(",
        SHARED="static ck_brlock_t lock = CK_BRLOCK_INITIALIZER; static ck_brlock_reader_t me;",
        START="ck_brlock_read_register(&lock, &me)",
        WRITE_ENTER="ck_brlock_write_lock(&lock)",
        WRITE_LEAVE="ck_brlock_write_unlock(&lock)",
        READ_ENTER="ck_brlock_read_lock(&lock, &me)",
        READ_LEAVE="ck_brlock_read_unlock(&me)",
    ),
    ck_pairs(
        "ck_sequence",
        "ck_sequence.h",
        LOAD,
        "ck_sequence_read_begin(",
        SHARED="static ck_sequence_t lock = CK_SEQUENCE_INITIALIZER;",
        WRITE_ENTER="ck_sequence_write_begin(&lock)",
        WRITE_LEAVE="ck_sequence_write_end(&lock)",
        READ_ENTER="ck_sequence_read_begin(&lock)",
        RETRY="ck_sequence_read_retry(&lock, version)",
    ),
    ck_exchange("ck_ring spsc", "ck_ring.h", STORE, "_ck_ring_enqueue_sp(struct", EACH="2", **ring("spsc")),
    ck_exchange("ck_ring mpmc", "ck_ring.h", STORE, "_ck_ring_enqueue_mp(struct", PRODUCERS="2", **ring("mpmc")),
    ck_exchange(
        "ck_stack upmc",
        "ck_stack.h",
        (
            "ck_pr_cas_ptr_value(&target->head, stack, entry, &stack) == false",
            "(entry->next = target->head, ck_pr_store_ptr(&target->head, entry), 0)",
        ),
        "ck_stack_push_upmc(",
        PRODUCERS="2",
        **stack("upmc"),
    ),
    ck_exchange(
        "ck_fifo spsc",
        "ck_fifo.h",
        STORE,
        "ck_fifo_spsc_enqueue(",
        EACH="1",
        IN_ORDER="1",
        SHARED="static ck_fifo_spsc_t fifo; static ck_fifo_spsc_entry_t nodes[3];",
        START="ck_fifo_spsc_init(&fifo, &nodes[2])",
        **{"PUT(i)": "ck_fifo_spsc_enqueue(&fifo, &nodes[i - items], i)", "TAKE(i)": "ck_fifo_spsc_dequeue(&fifo, &i)"},
    ),
    Module(
        "urcu lfstack",
        "liburcu-dev",
        "exchange.c",
        {
            "HEADER": "<urcu/lfstack.h>",
            "_LGPL_SOURCE": "1",
            "PRODUCERS": "2",
            "NODE": "struct cds_lfs_node node;",
            "SHARED": "static struct __cds_lfs_stack stack;",
            "START": "__cds_lfs_init(&stack)",
            "PUT(i)": "cds_lfs_push(&stack, &(i)->node)",
            "TAKE(i)": "(i = (struct item *)__cds_lfs_pop(&stack))",
        },
        ("urcu/static/lfstack.h", "uatomic_cmpxchg(&s->head, old_head, new_head)", "s->head; s->head = new_head"),
        "_cds_lfs_push(",
    ),
    Module(
        "urcu wfcqueue",
        "liburcu-dev",
        "exchange.c",
        {
            "HEADER": "<urcu/wfcqueue.h>",
            "_LGPL_SOURCE": "1",
            "PRODUCERS": "2",
            "NODE": "struct cds_wfcq_node node;",
            "SHARED": "static struct cds_wfcq_head head; static struct cds_wfcq_tail tail;",
            "START": "cds_wfcq_init(&head, &tail)",
            "PUT(i)": "(cds_wfcq_node_init(&(i)->node), cds_wfcq_enqueue(&head, &tail, &(i)->node))",
            "TAKE(i)": "(i = (struct item *)__cds_wfcq_dequeue_blocking(&head, &tail))",
        },
        (
            "urcu/static/wfcqueue.h",
            "old_tail = uatomic_xchg(&tail->p, new_tail);",
            "old_tail = tail->p; tail->p = new_tail;",
        ),
        "___cds_wfcq_append(",
    ),
    dpdk(
        "rte_spinlock",
        "lock.c",
        "rte_spinlock.h",
        ("__ATOMIC_RELEASE", "__ATOMIC_RELAXED"),
        "rte_spinlock_unlock (rte_spinlock_t *sl)\n{",
        SHARED="static rte_spinlock_t lock = RTE_SPINLOCK_INITIALIZER;",
        ENTER="rte_spinlock_lock(&lock)",
        LEAVE="rte_spinlock_unlock(&lock)",
    ),
    dpdk(
        "rte_ticketlock",
        "lock.c",
        "rte_ticketlock.h",
        ("__ATOMIC_RELEASE", "__ATOMIC_RELAXED"),
        "rte_ticketlock_unlock(",
        SHARED="static rte_ticketlock_t lock = RTE_TICKETLOCK_INITIALIZER;",
        ENTER="rte_ticketlock_lock(&lock)",
        LEAVE="rte_ticketlock_unlock(&lock)",
    ),
    dpdk(
        "rte_mcslock",
        "lock.c",
        "rte_mcslock.h",
        ("__ATOMIC_RELEASE", "__ATOMIC_RELAXED"),
        "R3: Pass the lock",
        SHARED="static rte_mcslock_t *lock;",
        LOCAL="rte_mcslock_t node;",
        ENTER="rte_mcslock_lock(&lock, &node)",
        LEAVE="rte_mcslock_unlock(&lock, &node)",
    ),
    dpdk(
        "rte_rwlock",
        "pairs.c",
        "rte_rwlock.h",
        ("__ATOMIC_RELEASE", "__ATOMIC_RELAXED"),
        "rte_rwlock_write_unlock(rte_rwlock_t *rwl)\n{",
        **readers("rte_rwlock", "RTE_RWLOCK_INITIALIZER"),
    ),
    dpdk(
        "rte_pflock",
        "pairs.c",
        "rte_pflock.h",
        ("__ATOMIC_RELEASE", "__ATOMIC_RELAXED"),
        "rte_pflock_write_unlock(",
        **readers("rte_pflock", "RTE_PFLOCK_INITIALIZER"),
    ),
    dpdk(
        "rte_seqcount",
        "pairs.c",
        "rte_seqcount.h",
        ("->sn, __ATOMIC_ACQUIRE", "->sn, __ATOMIC_RELAXED"),
        "rte_seqcount_read_begin(",
        SHARED="static rte_seqcount_t lock = RTE_SEQCOUNT_INITIALIZER;",
        WRITE_ENTER="rte_seqcount_write_begin(&lock)",
        WRITE_LEAVE="rte_seqcount_write_end(&lock)",
        READ_ENTER="rte_seqcount_read_begin(&lock)",
        RETRY="rte_seqcount_read_retry(&lock, version)",
    ),
    atomic_queue("AtomicQueue", "AtomicQueue<int, 2>", TICKET_IN_TWO, "void push("),
    atomic_queue(
        "AtomicQueue2",
        "AtomicQueue2<int, 2>",
        (
            "state.store(STORED, R);\n                    return;",
            "state.store(STORED, X);\n                    return;",
        ),
        "do_push_any(U&& element",
    ),
    atomic_queue("AtomicQueueB", "AtomicQueueB<int>", TICKET_IN_TWO, "void push("),
    Module(
        "TicketSpinlock",
        "libatomic-queue-dev",
        "lock.cpp",
        {"HEADER": "<atomic_queue/spinlock.h>", "LOCK": "atomic_queue::TicketSpinlock", "GUARD": "LOCK::scoped_lock"},
        ("atomic_queue/spinlock.h", "std::memory_order_release", "std::memory_order_relaxed"),
        "class TicketSpinlock",
    ),
    exchange(
        "ReaderWriterQueue",
        "libreaderwriterqueue-dev",
        "<readerwriterqueue/readerwriterqueue.h>",
        "moodycamel::ReaderWriterQueue<int>",
        "queue.enqueue(n)",
        "queue.try_dequeue(n)",
        ("readerwriterqueue/readerwriterqueue.h", "fence(memory_order_release);", "fence(memory_order_relaxed);"),
    ),
    exchange(
        "ConcurrentQueue",
        "libconcurrentqueue-dev",
        "<concurrentqueue/concurrentqueue.h>",
        "moodycamel::ConcurrentQueue<int>",
        "queue.enqueue(n)",
        "queue.try_dequeue(n)",
        (
            "concurrentqueue/concurrentqueue.h",
            "while (!producerListTail.compare_exchange_weak(prevTail, producer, std::memory_order_release,"
            " std::memory_order_relaxed))",
            "while (producerListTail.store(producer), false)",
        ),
        producers=2,
    ),
    exchange(
        "boost spsc_queue",
        "libboost1.74-dev",
        "<boost/lockfree/spsc_queue.hpp>",
        "boost::lockfree::spsc_queue<int, boost::lockfree::capacity<2>>",
        "while (!queue.push(n))",
        "queue.pop(n)",
        ("boost/lockfree/spsc_queue.hpp", "memory_order_release", "memory_order_relaxed"),
    ),
    exchange(
        "boost queue",
        "libboost1.74-dev",
        "<boost/lockfree/queue.hpp>",
        "boost::lockfree::queue<int, boost::lockfree::capacity<2>>",
        "while (!queue.push(n))",
        "queue.pop(n)",
        (
            "boost/lockfree/queue.hpp",
            "if ( tail_node->next.compare_exchange_weak(next, new_tail_next) )",
            "if (tail_node->next.store(new_tail_next), true)",
        ),
        producers=2,
    ),
    exchange(
        "boost stack",
        "libboost1.74-dev",
        "<boost/lockfree/stack.hpp>",
        "boost::lockfree::stack<int, boost::lockfree::capacity<2>>",
        "while (!queue.push(n))",
        "queue.pop(n)",
        (
            "boost/lockfree/stack.hpp",
            "if (tos.compare_exchange_weak(old_tos, new_tos))",
            "if (tos.store(new_tos), true)",
        ),
        producers=2,
    ),
    *(
        Module(
            f"tbb::{name}",
            "libtbb-dev",
            "lock.cpp",
            {"HEADER": f"<oneapi/tbb/{name}.h>", "LOCK": f"tbb::{name}"},
            (f"oneapi/tbb/{name}.h", *weaker),
            flags=("-std=c++17",),
        )
        for name, weaker in (
            ("spin_mutex", ("memory_order_release", "memory_order_relaxed")),
            ("spin_rw_mutex", ("if (m_state.compare_exchange_strong(s, WRITER))", "if (m_state = WRITER, true)")),
        )
    ),
)
