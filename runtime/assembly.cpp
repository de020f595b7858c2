// Inline assembler of the program: binary/inline_assembly.py calls this before each of its instructions that accesses memory,
// and once more behind a locked one; for others, that nobody knows what they do. All registers and flags stay as they are.
//
// Compilers know of no call there: registers that calls may change can hold what the thread knows. They lie above the frame
// that tells whether a thread is back where it was (world_memory.cpp); vector registers, which only hold leftovers, below it.
#include "accesses.hpp"
#include "graph_stops.hpp"

extern "C" __attribute__((visibility("hidden"))) void** memfence_frame;

namespace memfence::running {

namespace {

enum class InlineAccess : unsigned { Load, Store, Update, Locked, Unknown, Stores };  // as in binary/inline_assembly.py

// The locked instruction that comes next. Nobody else runs before it is done.
struct InlineLocked {
  Wish wish;
  std::uint64_t state = 0, before = 0;
  bool is_next = false;
} next_locked;

void before_locked(void* address, std::size_t size, void** frame) {
  void* pc = frame[kReturnAddress];
  if ((reinterpret_cast<std::uintptr_t>(address) & 7) + size > 8)
    world.fail(Finding::Unsupported, size > 8 ? "an atomic access of 16 bytes" : "an atomic access that is not aligned", pc);
  const Cell cell{address, static_cast<std::uint8_t>(size)};
  const int number = shared_cell(address, size, true, pc);
  Wish wish = wish_of(AccessKind::LockedStore, number, cell, pc, true);
  std::uint64_t state = 0;
  if (number >= 0) {
    state = world.consider_waiting(wish, frame);
    stop_before(wish);
  } else {
    fence_if_needed(pc);
  }
  next_locked = {wish, state, cell.read(), true};
}

void before_update(char* address, std::size_t size, void** frame) {
  read_all(address, size, frame, true);
  List<Buffered> shown;
  shown.swap(world.me().shown);
  write_late(address, size, frame, true, false);
  shown.swap(world.me().shown);
}

}  // namespace

}  // namespace memfence::running

using namespace memfence::running;

extern "C" {

__attribute__((visibility("hidden"))) void memfence_assembly(char* address, unsigned what) {
  if (!world.in_program) return;
  void** frame = memfence_frame;
  refuse_in_graphs("inline assembler", frame[kReturnAddress]);
  const std::size_t size = what & 0xff;
  switch (static_cast<InlineAccess>(what >> 8)) {
    case InlineAccess::Load: return read_all(address, size, frame, true);
    case InlineAccess::Store: return write_all(address, size, frame, true);
    case InlineAccess::Update: return before_update(address, size, frame);
    case InlineAccess::Locked: return before_locked(address, size, frame);
    case InlineAccess::Stores:
      world.settle();  // the store before it is not behind the fence
      ++world.me().releases;
      return;
    case InlineAccess::Unknown: world.fail(Finding::Unsupported, address, frame[kReturnAddress]);
  }
}

__attribute__((visibility("hidden"))) void memfence_assembly_done() {
  if (!world.in_program || !next_locked.is_next) return;
  next_locked.is_next = false;
  const std::uint64_t now = next_locked.wish.cell.read();
  if (next_locked.before != now)
    world.changed();
  else if (next_locked.wish.number >= 0)
    world.see(next_locked.wish, now, next_locked.state);
  if (next_locked.wish.number >= 0) world.log_value(now);
}

}  // extern "C"

// The caller has pushed what the access is, above the return address; %rdi is where.
asm(R"(
.text
.globl __memfence_assembly
.type __memfence_assembly, @function
__memfence_assembly:
    pushfq
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq 80(%rsp)
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    movq %rsp, memfence_frame(%rip)
    movl 152(%rsp), %esi
    movq %rsp, %rbp
    subq $528, %rsp
    andq $-16, %rsp
    fxsave (%rsp)
    cld
    call memfence_assembly
    fxrstor (%rsp)
    movq %rbp, %rsp
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    addq $8, %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popfq
    ret
.size __memfence_assembly, .-__memfence_assembly
.globl __memfence_assembly_done
.type __memfence_assembly_done, @function
__memfence_assembly_done:
    pushfq
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq %rbp
    movq %rsp, %rbp
    subq $528, %rsp
    andq $-16, %rsp
    fxsave (%rsp)
    cld
    call memfence_assembly_done
    fxrstor (%rsp)
    movq %rbp, %rsp
    popq %rbp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popfq
    ret
.size __memfence_assembly_done, .-__memfence_assembly_done
)");
