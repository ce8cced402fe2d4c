// Marks functions that are written once and used by both backends.
#pragma once

#ifdef __CUDACC__
#define SHEAF_HOST_DEVICE __host__ __device__
#else
#define SHEAF_HOST_DEVICE
#endif
