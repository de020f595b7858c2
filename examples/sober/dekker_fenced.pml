/* dekker.pml with the fences that make it store-buffer safe. */
#define FENCE mfence();
#include "dekker.pml"
