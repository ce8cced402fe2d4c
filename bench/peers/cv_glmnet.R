# cv.glmnet on a dense table: 100 lambdas x given folds, as many processes as asked for.
# Arguments: table (labels first, comma-separated), family, folds (one number a row), processes, repeats, and whether
# multinomial models are "grouped" or "ungrouped".
# Prints the seconds of the fastest repeat, the number of lambdas, the best lambda and its score, the processes, and the
# fewest processor seconds of a repeat; then the deviance of the model without features (twice the mean loss above that
# of a perfect fit) and the objective of each lambda on all rows: the mean loss and the penalty of standardised weights.
arguments <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages(library(glmnet))
table <- as.matrix(read.csv(arguments[1], header = FALSE))
y <- table[, 1]
x <- table[, -1]
fold <- scan(arguments[3], quiet = TRUE) + 1
processes <- as.integer(arguments[4])
parallel <- processes > 1 && requireNamespace("doParallel", quietly = TRUE)
if (parallel) doParallel::registerDoParallel(processes)
family <- arguments[2]
if (family %in% c("binomial", "multinomial")) y <- factor(y)
best <- Inf
processor <- Inf
for (turn in seq_len(as.integer(arguments[5]))) {
  times <- system.time(suppressWarnings(
    fit <- cv.glmnet(x, y, family = family, foldid = fold, nlambda = 100, parallel = parallel,
                     type.multinomial = arguments[6])
  ))
  best <- min(best, times[["elapsed"]])
  processor <- min(processor, sum(times[c("user.self", "sys.self", "user.child", "sys.child")]))
}
cat(best, length(fit$lambda), fit$lambda.min, min(fit$cvm), if (parallel) processes else 1, processor, "\n")

net <- fit$glmnet.fit
units <- sqrt(colMeans(sweep(x, 2, colMeans(x))^2))
weights <- if (is.list(net$beta)) net$beta else list(net$beta)
scaled <- lapply(weights, function(beta) as.matrix(beta) * units)
penalty <- if (family == "multinomial" && arguments[6] == "grouped") {
  colSums(sqrt(Reduce(`+`, lapply(scaled, function(beta) beta^2))))
} else {
  Reduce(`+`, lapply(scaled, function(beta) colSums(abs(beta))))
}
loss <- deviance(net) / 2 / length(y)
if (family == "poisson") loss <- loss + mean(ifelse(y > 0, y - y * log(y), 0))
cat(format(c(net$nulldev / length(y), loss + net$lambda * penalty), digits = 15), "\n")
