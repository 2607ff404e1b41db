/** @file main.c  Chapter 01: the gate in plain C, on the host. */
#include "harness/gate/gate.h"

int main(int argc, char **argv)
{
    static const struct gate_chapter chapter = {
        .implementation = {.name = "01_cpu_baseline", .compute = gate_compute},
    };
    return gate_main(argc, argv, &chapter);
}
