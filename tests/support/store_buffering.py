"""Store buffering as a text in every language that models with store buffers know, but for C."""

from __future__ import annotations

STORE_BUFFERING = {
    "persist": """\
program sb
vars x, y
procs
process P
regs $r
init l0
begin
  l0: x = 1; goto l1
  l1: $r = y; goto done
end
process Q
regs $r
init l0
begin
  l0: y = 1; goto l1
  l1: $r = x; goto done
end
""",
    "trencher": """\
thread P
  initial l0
  transition l0 l1 write 1 0
  transition l1 done read r 1
end
thread Q
  initial l0
  transition l0 l1 write 1 1
  transition l1 done read r 0
end
""",
    "rmm": """\
forbidden done done
data
    x = 0 : [0:1]
    y = 0 : [0:1]
process
registers $r = 1 : [0:1]
text
    write: x := 1;
    read: $r := y;
    if $r = 0 then { done: nop } else { other: nop }
process
registers $r = 1 : [0:1]
text
    write: y := 1;
    read: $r := x;
    if $r = 0 then { done: nop } else { other: nop }
""",
    "dve": """\
byte x = 0, y = 0;
process P {
  byte r = 0;
  state start, stored, done;
  init start;
  trans
    start -> stored { effect x = 1; },
    stored -> done { effect r = y; };
}
process Q {
  byte r = 0;
  state start, stored, done;
  init start;
  trans
    start -> stored { effect y = 1; },
    stored -> done { effect r = x; };
}
system async;
""",
    "litmus": """\
X86 SB
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
~exists (0:EAX=0 /\\ 1:EAX=0)
""",
    "clitmus": """\
C SB
{ }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r = atomic_load_explicit(y, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r = atomic_load_explicit(x, memory_order_relaxed);
}
~exists (0:r=0 /\\ 1:r=0)
""",
    "promela": """\
byte x, y;
active proctype P() { byte r = 1; x = 1; r = y; done: skip }
active proctype Q() { byte r = 1; y = 1; r = x; done: skip }
""",
}
STORE_BUFFERING["remmex"] = """\
int x = 0;
int y = 0;

proctype P {
  int r = 0;
  store(x, 1);
  load(y, 0);
done: skip;
}

proctype Q {
  int r = 0;
  store(y, 1);
  load(x, 0);
done: skip;
}
"""
