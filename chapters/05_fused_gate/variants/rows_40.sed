s/\[WARP_SIZE \* MAX_TOPK\]/[WARP_SIZE * (MAX_TOPK + 8)]/
s/token_of_warp \* MAX_TOPK/token_of_warp * (MAX_TOPK + 8)/
