# Fits elastic-net paths with R's glmnet (Debian: r-cran-glmnet) and writes results.json.
#   Rscript make.R [LIST DATA OUTPUT]      (../nets.txt ../data results.json; DATA is a folder of NAME.libsvm)
#   Rscript make.R ../grouped_nets.txt ../data grouped.json
#   Rscript make.R ../limits_nets.txt ../data limits.json
#   Rscript make.R ../relaxed_nets.txt ../data relaxed.json
#
# The weights are those of Sheaf's problem (scikit-learn's too):
#   1 / (2 sum s) sum s (y - b - x'w)^2 + alpha l1 |w|_1 + alpha (1 - l1) / 2 |w|^2        (logistic: mean log(1 + exp(-y z));
#   poisson: mean exp(z) - y z; multinomial: mean log sum exp(z) - z of the row's class, with weights of each class; grouped: the
#   same, and targets: squares of several targets, with the sum over features of the length of their weights for |w|_1)
# glmnet divides a numeric y by its standard deviation first, which makes the L2 penalty that many times weaker: lambda and its
# alpha (called mix here) are chosen so that the two objectives are the same.
suppressMessages(library(glmnet))
arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) == 0) arguments <- c("../nets.txt", "../data", "results.json")

read_libsvm <- function(name) {
  lines <- strsplit(readLines(file.path(arguments[2], paste0(name, ".libsvm"))), " ")
  y <- as.numeric(sapply(lines, `[`, 1))
  cells <- lapply(lines, function(words) do.call(rbind, lapply(strsplit(words[-1], ":"), as.numeric)))
  x <- matrix(0, length(y), max(sapply(cells, function(c) max(c[, 1]))))
  for (i in seq_along(y)) x[i, cells[[i]][, 1]] <- cells[[i]][, 2]
  list(x = x, y = y)
}

number <- function(v) sprintf("%.17g", v)
numbers <- function(v) paste0("[", paste(number(v), collapse = ","), "]")
truth <- function(v) if (v) "true" else "false"

classes_of <- function(y) if (all(y == round(y))) match(y, sort(unique(y))) else findInterval(y, c(3, 7)) + 1

# Row i has weight 1 + i mod 3 (i from 1) where `weighted`; feature j has a penalty factor in proportion to 0.5 + j mod 2 where
# `factors`, of mean 1 because glmnet would scale them so itself; row i has the offset log(1 + i mod 4) where `exposed`, in class k (from
# 1) of several log(1 + (i + k) mod 4). Weights stay between the two `limits`. Where `relaxed` they are those of the models without a penalty of
# the features that have a weight. Multinomial intercepts and weights are lists, one for each class in ascending order; those of several targets likewise.
fit_case <- function(data, loss, l1_ratio, standardise, weighted, intercept, factors, exposed, limits, relaxed) {
  table <- read_libsvm(data)
  x <- table$x
  n <- nrow(x)
  y <- switch(loss, squared = table$y, logistic = as.numeric(table$y == max(table$y)), poisson = abs(round(table$y)),
              targets = cbind(table$y, sqrt(abs(table$y)), seq_len(n) %% 3), classes_of(table$y))
  several <- loss %in% c("multinomial", "grouped", "targets")
  together <- loss %in% c("grouped", "targets")
  s <- if (weighted) 1 + seq_len(n) %% 3 else rep(1, n)
  penalties <- if (factors) 0.5 + seq_len(ncol(x)) %% 2 else rep(1, ncol(x))
  penalties <- penalties / mean(penalties)
  offsets <- if (!exposed) NULL else if (loss == "multinomial") log(1 + outer(seq_len(n), seq_len(max(y)), `+`) %% 4) else
    log(1 + seq_len(n) %% 4)
  deviation <- if (loss == "squared") sqrt(sum(s * (y - if (intercept) sum(s * y) / sum(s) else 0)^2) / sum(s)) else 1
  mix <- l1_ratio / (l1_ratio + deviation * (1 - l1_ratio))
  # The alpha from which on all weights are 0, near enough to choose the path by.
  targets <- if (loss %in% c("multinomial", "grouped")) outer(y, seq_len(max(y)), "==") + 0 else as.matrix(y)
  means <- if (intercept || loss == "logistic") colSums(s * targets) / sum(s) else if (loss %in% c("squared", "targets")) 0 else 1 / ncol(targets)
  residual <- sweep(targets, 2, means)
  scale <- if (standardise) apply(x, 2, function(v) sqrt(sum(s * (v - sum(s * v) / sum(s))^2) / sum(s))) else rep(1, ncol(x))
  products <- crossprod(x, s * residual)
  if (together) products <- sqrt(rowSums(products^2))
  largest <- max(ifelse(scale > 0, abs(products) / scale / penalties, 0)) / sum(s) / l1_ratio
  alphas <- signif(largest * c(0.5, 0.2, 0.1, 0.05), 4)
  lambdas <- alphas * (l1_ratio + deviation * (1 - l1_ratio))
  family <- switch(loss, squared = "gaussian", logistic = "binomial", grouped = "multinomial", targets = "mgaussian", loss)
  # With do.call() the call has values: relax evaluates it again elsewhere.
  fit <- do.call(glmnet, list(
    x, if (loss %in% c("squared", "poisson", "targets")) y else factor(y), weights = s, family = family, alpha = mix,
    lambda = lambdas, standardize = standardise, intercept = intercept, penalty.factor = penalties, thresh = 1e-14,
    maxit = 1e8, lower.limits = limits[1], upper.limits = limits[2], offset = offsets,
    type.multinomial = if (loss == "grouped") "grouped" else "ungrouped", relax = relaxed
  ))
  if (relaxed) fit <- fit$relaxed
  path <- sapply(seq_along(alphas), function(k) {
    if (several) {
      each <- lapply(coef(fit), function(one) as.matrix(one)[, k])
      intercepts <- numbers(sapply(each, `[`, 1))
      weights <- paste0("[", paste(sapply(each, function(one) numbers(one[-1])), collapse = ","), "]")
    } else {
      one <- as.matrix(coef(fit))[, k]
      intercepts <- number(one[1])
      weights <- numbers(one[-1])
    }
    paste0('    {"alpha": ', number(alphas[k]), ', "intercept": ', intercepts, ', "weights": ', weights, "}")
  })
  paste0('  {"data": "', data, '", "loss": "', loss, '", "l1_ratio": ', number(l1_ratio),
         ', "standardise": ', truth(standardise), ', "intercept": ', truth(intercept), ', "row_weights": ',
         if (weighted) numbers(s) else "[]", ', "penalty_factors": ', if (factors) numbers(penalties) else "[]",
         if (any(is.finite(limits))) paste0(', "limits": [', paste(ifelse(is.finite(limits), number(limits), "null"), collapse = ","), "]"),
         ', "offsets": ', if (exposed) numbers(t(offsets)) else "[]",
         ', "path": [\n', paste(path, collapse = ",\n"), "]}")
}

cases <- sapply(strsplit(grep("^#", readLines(arguments[1]), invert = TRUE, value = TRUE), " "), function(words)
  fit_case(words[1], words[2], as.numeric(words[3]), "standardise" %in% words, "weighted" %in% words,
           !("no_intercept" %in% words), "factors" %in% words, "exposed" %in% words,
           if ("positive" %in% words) c(0, Inf) else if ("boxed" %in% words) c(-0.1, 0.2) else c(-Inf, Inf), "relaxed" %in% words))
version <- paste0("glmnet ", packageVersion("glmnet"), ", R ", getRversion())
writeLines(paste0('{"program": "', version, '", "cases": [\n', paste(cases, collapse = ",\n"), "]}"), arguments[3])
