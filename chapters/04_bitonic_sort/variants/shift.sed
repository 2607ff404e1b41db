s/#ifdef __CUDA_ARCH__/#if 0/
