#include "linear/net/solve_launch.cuh"

SHEAF_COMPILE_SOLVER(Quantile)
