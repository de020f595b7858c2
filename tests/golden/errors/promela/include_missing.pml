#include "nowhere.pml"
#include <stdio.h>
active proctype P() { skip }
