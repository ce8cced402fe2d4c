# A lasso path of Cox models by glmnet: 100 lambdas.
# Arguments: table (binary doubles, column after column: features, time, event), rows, columns, repeats.
# Prints the seconds of the fastest repeat, the fewest processor seconds, the number of lambdas, the last lambda, and the objective there.
arguments <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages({library(glmnet); library(survival)})
rows <- as.integer(arguments[2])
columns <- as.integer(arguments[3])
table <- matrix(readBin(arguments[1], "double", rows * columns), rows)
x <- table[, seq_len(columns - 2)]
time <- table[, columns - 1]
event <- table[, columns]
best <- Inf
processor <- Inf
for (turn in seq_len(as.integer(arguments[4]))) {
  times <- system.time(fit <- glmnet(x, Surv(time, event), "cox", nlambda = 100))
  best <- min(best, times[["elapsed"]])
  processor <- min(processor, sum(times[c("user.self", "sys.self")]))
}
last <- length(fit$lambda)
w <- as.vector(fit$beta[, last])
z <- drop(x %*% w)
risk <- rev(cumsum(rev(exp(z[order(time)]))))  # times differ
loss <- sum((log(risk) - z[order(time)])[event[order(time)] == 1])
scale <- apply(x, 2, function(v) sqrt(mean((v - mean(v))^2)))
cat(best, processor, last, sprintf("%.17g %.17g", fit$lambda[last], loss / rows + fit$lambda[last] * sum(abs(w * scale))), "\n")
