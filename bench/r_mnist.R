# Multinomial regression without a penalty on all of MNIST (60,000 x 784): sheaf_glm() against nnet::multinom() and
# glmnet(lambda = 0), each at the deviance that the peer reaches.
#
#     R_LIBS=build/r/library Rscript bench/r_mnist.R sheaf [TOLERANCE ...]
#     R_LIBS=build/r/library Rscript bench/r_mnist.R nnet [ITERATIONS]
#     R_LIBS=build/r/library Rscript bench/r_mnist.R glmnet [THRESH]
#
# One process each, so that a peer that does not end can be stopped (timeout). Prints the deviance and the seconds of the
# processors and by the clock. nnet says every ten iterations what is left: half of the deviance.
# Data lie beside the checkout (../shared/data, or SHEAF_DATA).
suppressPackageStartupMessages({
  library(sheaf)
  library(Matrix)
})

script <- sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))
data_folder <- Sys.getenv("SHEAF_DATA", file.path(dirname(script), "..", "..", "shared", "data"))
set <- sheaf_read(file.path(data_folder, "mnist", "train.libsvm.xz"))
x <- as.matrix(set$x) / 255
x <- cbind(x, matrix(0, nrow(x), 784 - ncol(x)))  # the last pixels are 0 in all pictures, and not in the file
colnames(x) <- paste0("pixel", seq_len(ncol(x)))
y <- factor(as.character(set$y))

report <- function(name, time, deviance) {
  cat(sprintf("%-40s deviance %10.1f, seconds %8.1f, by the clock %8.1f\n", name, deviance, sum(time[1:2]),
              time[["elapsed"]]))
}

deviance_of <- function(shares) -2 * sum(log(shares[cbind(seq_along(y), as.integer(y))]))

wanted <- commandArgs(TRUE)
effort <- as.numeric(wanted[-1])
if (wanted[1] == "sheaf") {
  for (tolerance in if (length(effort) > 0) effort else 1e-5) {
    for (kind in c("dense", "sparse")) {
      features <- if (kind == "dense") x else as(x, "CsparseMatrix")
      time <- system.time(fit <- sheaf_glm(features, y, tolerance = tolerance, model = FALSE))
      report(sprintf("sheaf_glm, %s, tolerance %g, %d steps", kind, tolerance, fit$iter), time, deviance(fit))
    }
  }
} else if (wanted[1] == "nnet") {
  most <- if (length(effort) > 0) effort[1] else 100
  time <- system.time(fit <- nnet::multinom(y ~ x, maxit = most, MaxNWts = 1e5))
  report(paste0("nnet::multinom, maxit = ", most), time, fit$deviance)
} else {
  thresh <- if (length(effort) > 0) effort[1] else 1e-7
  time <- system.time(fit <- glmnet::glmnet(x, y, family = "multinomial", lambda = 0, thresh = thresh,
                                            standardize = FALSE))
  report(paste0("glmnet(lambda = 0), thresh = ", thresh), time, deviance_of(predict(fit, x, type = "response")[, , 1]))
}
