s/\[WARP_SIZE \* MAX_TOPK\]/[WARP_SIZE * (MAX_TOPK + 1)]/
s/token_in_warp \* MAX_TOPK/token_in_warp * (MAX_TOPK + 1)/
