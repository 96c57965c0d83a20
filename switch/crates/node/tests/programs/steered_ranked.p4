// steered.p4 with a rank.
#define RANKED
#include "steered.p4"
