#include "linear/net/cuda/solve_launch.cuh"

SHEAF_COMPILE_SOLVER(Softmax)
