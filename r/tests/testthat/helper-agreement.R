# The largest difference, relative to the largest value that is expected.
expect_close <- function(found, expected, tolerance = 1e-6) {
  found <- as.vector(as.matrix(found))
  expected <- as.vector(as.matrix(expected))
  testthat::expect_identical(is.na(found), is.na(expected))
  known <- !is.na(expected)
  worst <- max(abs(found[known] - expected[known])) / max(abs(expected[known]), 1e-300)
  testthat::expect_lt(worst, tolerance)
}

# A condition of the package that names the argument.
expect_names_argument <- function(code, argument) {
  wrong <- tryCatch(code, error = identity)
  testthat::expect_s3_class(wrong, "sheaf_error")
  testthat::expect_match(conditionMessage(wrong), paste0("'", argument, "'"), fixed = TRUE)
  testthat::expect_identical(wrong$argument, argument)
}

exact <- stats::glm.control(epsilon = 1e-15, maxit = 200)
