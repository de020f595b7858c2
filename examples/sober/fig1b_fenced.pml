/* fig1b.pml with the fences that make it store-buffer safe. */
#define FENCE mfence();
#include "fig1b.pml"
