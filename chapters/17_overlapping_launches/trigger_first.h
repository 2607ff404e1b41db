/**
 * @file trigger_first.h
 * @brief Chapter 17: included before chapter 13c's kernel, makes it trigger before it waits, if the GPU can trigger.
 */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define TRIGGER_FIRST
#endif
