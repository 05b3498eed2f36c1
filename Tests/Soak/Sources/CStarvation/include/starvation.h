#pragma once

/// Lowers the limit on descriptors of the process. Returns 0, or -1 with `errno` set.
int starvation_begin(unsigned long limit);

/// Restores the limit.
void starvation_end(void);
