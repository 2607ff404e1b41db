/** @file gate_reference_answer.h  An answer made of the checker's reference alone: a slow, exact gate. */
#ifndef GATE_REFERENCE_ANSWER_H
#define GATE_REFERENCE_ANSWER_H

#include "harness/gate/problem.h"
#include "harness/gate/reference.h"

#include <stdlib.h>

/** Computes every row. Host buffers. False when memory runs out. */
static bool gate_reference_compute(const struct gate_problem *problem, const struct gate_buffers *buffers)
{
    const int width = gate_experts_per_token(problem);
    struct interval *const weights = malloc(width * sizeof *weights);
    struct error error;
    struct gate_row row;

    if (!weights || !gate_row_allocate(problem, &row, &error)) {
        free(weights);
        return false;
    }
    row.ties_are_free = false;
    for (int64_t r = 0; r < problem->num_tokens; r++) {
        int32_t *const ids = buffers->topk_ids + r * width;

        gate_row_compute(problem, buffers->gating_output, buffers->correction_bias, r, &row);
        gate_row_choose(problem, &row, ids);
        gate_row_weights(problem, &row, ids, weights);
        for (int k = problem->topk; k < width; k++)
            ids[k] = problem->num_experts + k - problem->topk;
        for (int k = 0; k < width; k++)
            buffers->topk_weights[r * width + k] = weights[k].value;
    }
    free(weights);
    gate_row_free(&row);
    return true;
}

#endif
