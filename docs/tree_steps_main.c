/**
 * @file tree_steps_main.c
 * @brief Shows how an array in shared memory changes from barrier to barrier.
 *
 *     build/cpu/08_align_blelloch --counts 3,1,7,0,4,1,6,3 --block-size 1 --kernel large --trace trace.json
 *     build/cpu/tree_steps 0-7 trace.json
 *
 * Prints words 0 to 7 of the traced block's dynamic shared memory after each block barrier before which one of them had
 * changed. Exits 2, with one line, if the file cannot be read or does not have them.
 */
#include "tree_steps.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct tree_range range;
    struct error error;

    if (argc != 3) {
        fprintf(stderr, "usage: tree_steps FIRST-LAST TRACE.json\n");
        return 2;
    }
    if (!tree_range_parse(argv[1], &range, &error) || !tree_steps_write(stdout, argv[2], range, &error)) {
        fprintf(stderr, "tree_steps: %s\n", error.text);
        return 2;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "tree_steps: standard output: cannot be written\n");
        return 2;
    }
    return 0;
}
