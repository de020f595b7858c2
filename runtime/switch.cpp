#include "switch.hpp"

asm(R"(
.text
.globl memfence_switch
.hidden memfence_switch
.type memfence_switch, @function
memfence_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
.globl memfence_resume
.hidden memfence_resume
memfence_resume:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size memfence_switch, .-memfence_switch
.globl memfence_call_main
.hidden memfence_call_main
.type memfence_call_main, @function
memfence_call_main:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    andq $-256, %rsp
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %rdx
    call *%rax
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
.size memfence_call_main, .-memfence_call_main
)");
