"""memfence for editors and browsers: every question is asked in a child process that can be ended at any time.

`worker` is that process, `answers` what it can be asked, `child` the side that starts it and watches its limits. A
child ends with the process that started it.
"""
