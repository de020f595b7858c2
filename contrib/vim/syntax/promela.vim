" Promela, with the fences of memfence.h.
if exists("b:current_syntax")
  finish
endif
syntax keyword promelaStatement do od if fi else break goto skip atomic d_step assert run for select unless timeout printf
syntax keyword promelaFence mfence sfence cas xchg fetch_add release_store
syntax keyword promelaType bit bool byte short int unsigned chan mtype typedef hidden local show
syntax keyword promelaStructure active proctype init inline ltl never trace notrace provided priority
syntax keyword promelaConstant true false _pid _nr_pr
syntax match promelaNumber /\<\d\+\>/
syntax match promelaLabel /^\s*\h\w*\ze:\($\|[^:]\)/
syntax match promelaPreprocessor /^\s*#.*$/
syntax region promelaString start=/"/ end=/"/
syntax region promelaComment start=/\/\*/ end=/\*\//
syntax match promelaComment /\/\/.*$/
highlight default link promelaStatement Statement
highlight default link promelaFence Special
highlight default link promelaType Type
highlight default link promelaStructure Structure
highlight default link promelaConstant Constant
highlight default link promelaNumber Number
highlight default link promelaLabel Label
highlight default link promelaPreprocessor PreProc
highlight default link promelaString String
highlight default link promelaComment Comment
let b:current_syntax = "promela"
