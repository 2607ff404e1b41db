/**
 * @file trigger_first.h
 * @brief Chapter 17: compiled before chapter 13c's kernel, puts the trigger before the wait, on GPUs that have one.
 */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define TRIGGER_FIRST
#endif
