// The entry points of the hooks. They keep the registers that survive calls on the stack, say where, and go on in hooks.cpp.
// What they leave in the others is the same each time: inline assembler behind them finds it there (assembly.cpp).
// clang-format off
#define ENTRY(NAME, BODY, MORE) ENTRY_WITH(NAME, BODY, MORE, "")
#define ENTRY_WITH(NAME, BODY, MORE, RESULT)                                                                                  \
  asm(".text\n.globl " NAME "\n.type " NAME ", @function\n" NAME ":\n.cfi_startproc\n"                                        \
      "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\nsubq $8, %rsp\n"                               \
      ".cfi_adjust_cfa_offset 56\nmovq %rsp, memfence_frame(%rip)\n" MORE "\ncall " BODY "\naddq $56, %rsp\n"                 \
      ".cfi_adjust_cfa_offset -56\n" RESULT "xorl %ecx, %ecx\nxorl %edx, %edx\nxorl %esi, %esi\nxorl %edi, %edi\n"           \
      "xorl %r8d, %r8d\nxorl %r9d, %r9d\nxorl %r10d, %r10d\nxorl %r11d, %r11d\n"                                            \
      "ret\n.cfi_endproc\n.size " NAME ", .-" NAME "\n");
#define NOTHING "xorl %eax, %eax\n"
#define SIZED(PREFIX, KIND, SIZE, BODY)                                                                                       \
  ENTRY_WITH(PREFIX KIND SIZE, BODY, "movl $" SIZE ", %esi\nxorl %edx, %edx", NOTHING)                                                   \
  ENTRY_WITH(PREFIX "unaligned_" KIND SIZE, BODY, "movl $" SIZE ", %esi\nxorl %edx, %edx", NOTHING)                                         \
  ENTRY_WITH(PREFIX "volatile_" KIND SIZE, BODY, "movl $" SIZE ", %esi\nmovl $1, %edx", NOTHING)                                            \
  ENTRY_WITH(PREFIX "unaligned_volatile_" KIND SIZE, BODY, "movl $" SIZE ", %esi\nmovl $1, %edx", NOTHING)
#define SIZES(PREFIX, KIND, BODY)                                                                                             \
  SIZED(PREFIX, KIND, "1", BODY) SIZED(PREFIX, KIND, "2", BODY) SIZED(PREFIX, KIND, "4", BODY)                                \
  SIZED(PREFIX, KIND, "8", BODY) SIZED(PREFIX, KIND, "16", BODY)                                                              \
  ENTRY_WITH(PREFIX KIND "_range", BODY, "xorl %edx, %edx", NOTHING)
SIZES("__tsan_", "read", "memfence_read")
SIZES("__tsan_", "write", "memfence_write")
// What binary/assembler.py makes of a write that is more than one.
SIZES("__memfence_copy_", "write", "memfence_copy")
SIZES("__memfence_update_", "write", "memfence_update")
ENTRY_WITH("__tsan_vptr_read", "memfence_read", "movl $8, %esi\nxorl %edx, %edx", NOTHING)
ENTRY_WITH("__tsan_vptr_update", "memfence_vptr_update", "", NOTHING)
#define ATOMICS(BITS)                                                                                                         \
  ENTRY("__tsan_atomic" BITS "_load", "memfence_load" BITS, "")                                                               \
  ENTRY("__tsan_atomic" BITS "_store", "memfence_store" BITS, "")                                                             \
  ENTRY("__tsan_atomic" BITS "_exchange", "memfence_exchange" BITS, "")                                                       \
  ENTRY("__tsan_atomic" BITS "_fetch_add", "memfence_add" BITS, "")                                                           \
  ENTRY("__tsan_atomic" BITS "_fetch_sub", "memfence_sub" BITS, "")                                                           \
  ENTRY("__tsan_atomic" BITS "_fetch_and", "memfence_and" BITS, "")                                                           \
  ENTRY("__tsan_atomic" BITS "_fetch_or", "memfence_or" BITS, "")                                                             \
  ENTRY("__tsan_atomic" BITS "_fetch_xor", "memfence_xor" BITS, "")                                                           \
  ENTRY("__tsan_atomic" BITS "_fetch_nand", "memfence_nand" BITS, "")                                                         \
  ENTRY("__tsan_atomic" BITS "_compare_exchange_strong", "memfence_cas" BITS, "")                                             \
  ENTRY("__tsan_atomic" BITS "_compare_exchange_weak", "memfence_weak_cas" BITS, "")                                          \
  ENTRY("__tsan_atomic" BITS "_compare_exchange_val", "memfence_cas_val" BITS, "")
ATOMICS("8") ATOMICS("16") ATOMICS("32") ATOMICS("64")
#define WIDE(OPERATION) ENTRY("__tsan_atomic128_" OPERATION, "memfence_wide", "")
WIDE("load") WIDE("store") WIDE("exchange") WIDE("fetch_add") WIDE("fetch_sub") WIDE("fetch_and") WIDE("fetch_or")
WIDE("fetch_xor") WIDE("fetch_nand") WIDE("compare_exchange_strong") WIDE("compare_exchange_weak")
WIDE("compare_exchange_val")

// Where threads wait, and may be let go for no reason: what the caller knows then matters.
ENTRY("pthread_cond_wait", "memfence_cond_wait", "")
ENTRY("pthread_cond_timedwait", "memfence_cond_timedwait", "")
ENTRY("pthread_cond_clockwait", "memfence_cond_clockwait", "")
ENTRY("cnd_wait", "memfence_cnd_wait", "")
ENTRY("cnd_timedwait", "memfence_cnd_timedwait", "")
ENTRY("syscall", "memfence_syscall", "")
ENTRY("__memfence_patient_syscall", "memfence_patient_syscall", "")

// At the beginning of `reach_error`, and in the place of an instruction of the program's assembler text: all registers and
// flags stay as they are.
asm(R"(
.text
.globl __memfence_error
.type __memfence_error, @function
__memfence_error:
    pushq %rbp
    movq %rsp, %rbp
    movq 16(%rsp), %rdi
    andq $-16, %rsp
    call memfence_error_at
    movq %rbp, %rsp
    popq %rbp
    ret
.globl __memfence_fence
.type __memfence_fence, @function
__memfence_fence:
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
    movq 88(%rsp), %rdi
    subq $528, %rsp
    andq $-16, %rsp
    fxsave (%rsp)
    call memfence_fence_at
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
)");
// clang-format on
