s/if (problem.topk % 2 == 0 && lane < problem.topk \/ 2) {/if (false) {/
s/else if (problem.topk % 2 == 1 && writes)/else if (writes)/
