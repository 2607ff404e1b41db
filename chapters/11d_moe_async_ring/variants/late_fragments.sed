/const int next_k = /d
/load_weights<Tile>(weights\[0\], /d
/ldmatrix_x4(tokens\[0\], /d
s/if (pair == 0 && k + 1 < Tile::K_PARTS)/if (pair == 0)/
s/load_weights<Tile>(weights\[(k + 1) % 2\], stage + (weights_offset ^ (k + 1) \* MMA_K));/load_weights<Tile>(weights[k % 2], stage + (weights_offset ^ k * MMA_K));/
/if (next_k < Tile::K_PARTS)/d
s/    ldmatrix_x4(tokens\[(i + 1) % 2\], stage + (tokens_offset ^ next_k \* MMA_K) + next_pair \* PAIR_STRIDE);/ldmatrix_x4(tokens[i % 2], stage + (tokens_offset ^ k * MMA_K) + pair * PAIR_STRIDE);/
