/** @file main.c  Chapter 11a: the textbook layer, with one thread per output element. */
#include "harness/moe/moe.h"

int main(int argc, char **argv)
{
    static const struct moe_chapter chapter = {
        .implementation = {.name = "11a_moe_naive",
                           .kernel_switch_tokens = {65535, 65536}, /* the second does not fit in 16 bits */
                           .bench_max_tokens = 512,
                           .launch = moe_launch},
    };
    return moe_main(argc, argv, &chapter);
}
