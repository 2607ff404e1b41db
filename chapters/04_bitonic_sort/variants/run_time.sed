s/expert_scores\[NUM_EXPERTS\]/expert_scores[MAX_GROUPS * WARP_SIZE]/
s/row \* NUM_EXPERTS/row * problem.num_experts/
s/expert + NUM_EXPERTS/expert + problem.num_experts/
s/expert_of(mine.id, NUM_EXPERTS)/expert_of(mine.id, problem.num_experts)/
