/** @file main.c  Chapter 01: the gate in plain C, on the host. */
#include "harness/gate/gate.h"

int main(int argc, char **argv)
{
    static const struct gate_chapter chapter = {
        .implementation = {.name = "01_cpu_baseline", .compute_on_host = gate_compute_on_host},
    };
    return gate_main(argc, argv, &chapter);
}
