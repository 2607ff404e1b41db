/int place = problem.topk_group/{n;d}
/place = __shfl_sync(FULL_MASK, place, 0);/d
