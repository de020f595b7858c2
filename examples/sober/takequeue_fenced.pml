/* takequeue.pml with the fences that make it store-buffer safe. */
#define FENCE mfence();
#include "takequeue.pml"
