s/(chunk ^ stage_row % SWIZZLE_CHUNKS)/chunk/
