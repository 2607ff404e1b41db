s/if constexpr (Tile::PAIRS > 1)/if constexpr (false)/
