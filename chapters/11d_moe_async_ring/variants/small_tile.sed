s/problem->block_size % many_tokens::TOKENS == 0/false/
