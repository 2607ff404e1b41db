/** @file by_hand.c  The primer's first example: the gate for one token and six experts, implemented with loops. */
#include "primer.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { NUM_EXPERTS = 6, TOPK = 2 };

// [best_expert]
/** Returns the best expert that has not been chosen yet. */
static int best_expert(const float *scores, const bool *chosen)
{
    int best = -1;

    for (int expert = 0; expert < NUM_EXPERTS; expert++)
        if (!chosen[expert] && (best < 0 || scores[expert] > scores[best]))
            best = expert;
    return best;
}
// [best_expert]

static void print_row(const char *name, const float *values)
{
    printf("%-12s", name);
    for (int expert = 0; expert < NUM_EXPERTS; expert++)
        printf(" %6.2f", values[expert]);
    printf("\n");
}

void primer_print_gate_example(void)
{
    static const float logits[NUM_EXPERTS] = {0.4f, -1.2f, 2.0f, 0.9f, -0.3f, 1.1f};
    float scores[NUM_EXPERTS], sum = 0.0f;
    bool chosen[NUM_EXPERTS] = {false};
    int topk_ids[TOPK];

    for (int expert = 0; expert < NUM_EXPERTS; expert++)
        scores[expert] = 1.0f / (1.0f + expf(-logits[expert]));
    for (int k = 0; k < TOPK; k++) {
        topk_ids[k] = best_expert(scores, chosen);
        chosen[topk_ids[k]] = true;
        sum += scores[topk_ids[k]];
    }
    printf("%-12s %6d %6d %6d %6d %6d %6d\n", "expert", 0, 1, 2, 3, 4, 5);
    print_row("logit", logits);
    print_row("score", scores);
    printf("%-12s %6d %6d\n", "topk_ids", topk_ids[0], topk_ids[1]);
    printf("%-12s %6.2f %6.2f\n", "topk_weights", scores[topk_ids[0]] / sum, scores[topk_ids[1]] / sum);
}
