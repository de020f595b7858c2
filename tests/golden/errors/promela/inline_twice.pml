inline f() { skip }
inline f() { skip }
inline g { skip }
active proctype P() { f() }
