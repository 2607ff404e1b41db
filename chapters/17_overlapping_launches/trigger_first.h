/**
 * @file trigger_first.h
 * @brief Chapter 17: makes chapter 13c's kernel, if included before it, trigger before its wait on GPUs with triggers.
 */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define TRIGGER_FIRST
#endif
