/** @file skip.h  Skips a cmocka test with a reason, which tests/run.sh shows. Include after cmocka.h. */
#ifndef SKIP_H
#define SKIP_H

#define skip_because(reason)                     \
    do {                                         \
        print_message("# skip: %s\n", (reason)); \
        skip();                                  \
    } while (0)

#endif
