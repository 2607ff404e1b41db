/** @file say.h  What a checker expected and what it got, in a few words. */
#ifndef SAY_H
#define SAY_H

/** Formats the words, cut to fit. */
__attribute__((format(printf, 2, 3))) void say(char (*text)[96], const char *format, ...);

#endif
