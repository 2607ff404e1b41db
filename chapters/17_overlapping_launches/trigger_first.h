/**
 * @file trigger_first.h
 * @brief Chapter 17: if included before chapter 13c's kernel, makes that kernel trigger before its wait, on GPUs with
 *        triggers.
 */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define TRIGGER_FIRST
#endif
