/** @file grade_confine.h  What a process may still ask of the system once it runs the learner's code. */
#ifndef GRADE_CONFINE_H
#define GRADE_CONFINE_H

/**
 * From now on this process may take and return memory, print, handle its signals and end; anything else ends it with
 * SIGSYS. Opening a file only fails, since libraries try to. Where the system has no such filter, nothing happens.
 */
void grade_confine(void);

#endif
