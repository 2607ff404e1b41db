/** @file observer.c  Who is told. */
#include "observer.h"

const struct observer *simt_observers[3];
