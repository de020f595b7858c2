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
)");
