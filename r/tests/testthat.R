library(testthat)
library(sheaf)

test_check("sheaf")
