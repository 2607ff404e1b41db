/** @file catalogue.h  The exercises that tests of build/learn have: each is a copy of the first one, and of no other's business. */
EXERCISE("02_warp_maximum", 2, WRITE, 1, "the largest of a warp's scores, and whose")
EXERCISE("03_second_maximum", 3, MEND, 2, "a tie that is lost")
EXERCISE("08_up_sweep", 8, WRITE, 2, "half of a tree of sums")
EXERCISE("08_up_and_down", 8, BUDGET, 3, "the whole tree, with no bank conflict")
