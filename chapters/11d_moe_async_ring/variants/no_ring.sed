# The small tile's blocks use as little memory as chapter 11c's, so that five are resident.
s/tile<8, 1, 1, 1, 16, 108, 2>/tile<8, 1, 1, 1, 16, 36, 5>/
s/tile<4, 2, 4, 6, 8, 224, 1>/tile<4, 2, 4, 6, 8, 112, 1>/
/for (int s = 0; s < Tile::STAGES - 1; s++) {/,/^    }/d
s/__pipeline_wait_prior(Tile::STAGES - 2);/__syncthreads();\n        copy_step<Tile>(from, ring);\n        __pipeline_commit();\n        __pipeline_wait_prior(0);/
/if (step + Tile::STAGES - 1 < steps)/,/__pipeline_commit();/d
s/ring + step % Tile::STAGES \* Tile::STAGE_ELEMENTS/ring/
