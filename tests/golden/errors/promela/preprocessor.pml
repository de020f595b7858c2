#pragma once
#if VERSION > 2
#endif
#else
#define
#ifdef A
active proctype P() { skip }
