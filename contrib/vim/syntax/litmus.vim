" Litmus tests of x86, as memfence reads them.
if exists("b:current_syntax")
  finish
endif
syntax case ignore
syntax match litmusArchitecture /^X86\(_64\)\?\>/
syntax keyword litmusFence mfence sfence lfence lock xchg
syntax keyword litmusInstruction mov movl movq add sub inc dec cmp jmp je jne jz jnz xor and or cmpxchg xadd
syntax match litmusRegister /%\?\<[er]\?\(ax\|bx\|cx\|dx\|si\|di\|bp\|sp\)\>/
syntax match litmusNumber /\$\?\<\d\+\>/
syntax keyword litmusCondition exists forall locations not
syntax region litmusComment start=/(\*/ end=/\*)/
syntax region litmusString start=/"/ end=/"/
highlight default link litmusArchitecture PreProc
highlight default link litmusFence Special
highlight default link litmusInstruction Statement
highlight default link litmusRegister Identifier
highlight default link litmusNumber Number
highlight default link litmusCondition Conditional
highlight default link litmusComment Comment
highlight default link litmusString String
let b:current_syntax = "litmus"
