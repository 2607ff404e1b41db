s/__shfl_xor_sync(FULL_MASK, \(.*\), \(offset\|i\))/__shfl_xor_sync(FULL_MASK, \1, \2, groups)/
