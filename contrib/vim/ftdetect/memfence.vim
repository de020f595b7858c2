" Languages that memfence reads and Vim does not know.
autocmd BufNewFile,BufRead *.pml,*.prom,*.promela,*.remmex setfiletype promela
autocmd BufNewFile,BufRead *.litmus setfiletype litmus
