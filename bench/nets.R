# Elastic nets from R beside glmnet: all datasets, all families, one path and cross-validation; the worst ten.
#
#     R_LIBS=build/r/library Rscript bench/nets.R [--seconds 60] [--folds 10] [--only path|cv] [SET[:FAMILY] ...]
#
# Defaults of both programs, so also their own accuracy: `excess` is how far our objective is above glmnet's at the
# penalties that both have, at worst, as a share of the deviance without features (negative: below). Processor seconds,
# the least of some rounds; `floor` is the time of our path on the same data without a new model: conversion, standard
# deviations and one pass. A set of a family that takes glmnet longer than --seconds is left out.
#
# Targets of a set that are not of the family: numbers of its classes (gaussian), the largest class or the upper half
# against the others (binomial), thirds of numbers (multinomial), and counts and times drawn from five features.
# Data lie beside the checkout (../shared/data, or SHEAF_DATA).
suppressPackageStartupMessages({
  library(sheaf)
  library(Matrix)
})

families <- c("gaussian", "binomial", "poisson", "multinomial", "grouped", "mgaussian", "cox")
arguments <- commandArgs(TRUE)
take_option <- function(name, default) {
  place <- match(name, arguments)
  if (is.na(place)) return(default)
  value <- arguments[place + 1]
  arguments <<- arguments[-c(place, place + 1)]
  value
}
most_seconds <- as.numeric(take_option("--seconds", "60"))
folds <- as.integer(take_option("--folds", "10"))
only <- take_option("--only", "both")
script <- sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))
data_folder <- Sys.getenv("SHEAF_DATA", file.path(dirname(script), "..", "..", "shared", "data"))

# A set with sparse features stays sparse where most of its entries are 0.
read_set <- function(name) {
  found <- sheaf_read(file.path(data_folder, name, "train.libsvm.xz"))
  x <- found$x
  if (!is.matrix(x) && length(x@x) > 0.3 * prod(dim(x))) x <- as.matrix(x)
  list(x = x, y = as.numeric(as.character(found$y)))
}

# What five of the features that vary say of each row.
signal <- function(x) {
  varying <- head(which(apply(x[seq_len(min(nrow(x), 200)), seq_len(min(ncol(x), 200)), drop = FALSE], 2,
                              stats::sd) > 0), 5)
  drop(scale(as.matrix(x[, varying, drop = FALSE])) %*% rep(0.3, length(varying)))
}

target_of <- function(set, family) {
  values <- length(unique(set$y))
  classes <- values <= 30
  set.seed(1)
  switch(family,
    gaussian = set$y,
    binomial = factor(if (classes) set$y == as.numeric(names(which.max(table(set$y)))) else set$y > median(set$y)),
    poisson = rpois(nrow(set$x), exp(pmin(signal(set$x), 5))),
    multinomial = , grouped = if (!classes) cut(set$y, quantile(set$y, 0:3 / 3), include.lowest = TRUE)
                              else if (values > 2) large_classes(set$y),
    mgaussian = cbind(a = set$y + rnorm(nrow(set$x), sd = sd(set$y)), b = signal(set$x) + rnorm(nrow(set$x)),
                      c = rnorm(nrow(set$x))),
    cox = survival::Surv(rexp(nrow(set$x), exp(pmin(signal(set$x), 5))), rbinom(nrow(set$x), 1, 2 / 3)))
}

# glmnet wants eight rows of a class; those of smaller ones are NA.
large_classes <- function(y) factor(ifelse(table(y)[as.character(y)] >= 8, y, NA))

seconds <- function(expr, rounds) {
  expr <- substitute(expr)
  envir <- parent.frame()
  least <- Inf
  for (round in seq_len(rounds)) {
    time <- system.time(eval(expr, envir))
    least <- min(least, sum(time[c("user.self", "sys.self")]))
    if (least > 2) break
  }
  least
}

# The objective at each penalty, over half the deviance without features.
objectives <- function(fit, x, family) {
  sd <- sqrt(pmax(Matrix::colMeans(x^2) - Matrix::colMeans(x)^2, 0))
  beta <- if (is.list(fit$beta)) fit$beta else list(fit$beta)
  size <- if (family %in% c("grouped", "mgaussian")) sqrt(Reduce(`+`, lapply(beta, function(one) one^2)))
          else Reduce(`+`, lapply(beta, abs))
  penalty <- fit$lambda * Matrix::colSums(size * sd)
  (1 - fit$dev.ratio) + 2 * penalty / (fit$nulldev / if (family == "cox") attr(fit, "events") else nrow(x))
}

excess <- function(ours, theirs, x, family) {
  count <- min(length(ours$lambda), length(theirs$lambda))
  same <- which(abs(ours$lambda[seq_len(count)] / theirs$lambda[seq_len(count)] - 1) < 1e-6)
  if (length(same) == 0 || family == "cox") return(NA)
  max((objectives(ours, x, family) - 0)[same] - objectives(theirs, x, family)[same])
}

# One row of the table: in a process of its own.
compare <- function(name, family) {
  set <- read_set(name)
  y <- target_of(set, family)
  if (is.null(y)) return(NULL)
  x <- set$x
  if (anyNA(y)) {
    x <- x[!is.na(y), , drop = FALSE]
    y <- droplevels(y[!is.na(y)])
  }
  if (is.factor(y) && nlevels(y) < (if (family == "binomial") 2 else 3)) return(NULL)
  options <- list(family = if (family == "grouped") "multinomial" else family)
  if (family == "grouped") options$type.multinomial <- "grouped"
  call_of <- function(f, ...) suppressWarnings(do.call(f, c(list(x, y), options, list(...))))
  rows <- list()
  if (only != "cv") {
    theirs <- seconds(expected <- call_of(glmnet::glmnet), 3)
    ours <- seconds(found <- call_of(sheaf_net), 3)
    rows$path <- data.frame(set = name, rows = nrow(x), columns = ncol(x), family = family, kind = "path", ours, theirs,
                            models = paste(length(found$lambda), length(expected$lambda)),
                            excess = excess(found, expected, x, family))
    if (theirs * (folds + 1) > most_seconds) return(rows$path)
  }
  if (only != "path") {
    foldid <- rep_len(seq_len(folds), nrow(x))
    theirs <- seconds(expected <- call_of(glmnet::cv.glmnet, foldid = foldid), 2)
    ours <- seconds(found <- call_of(cv_sheaf_net, foldid = foldid), 2)
    rows$cv <- data.frame(set = name, rows = nrow(x), columns = ncol(x), family = family, kind = "cv", ours, theirs,
                          models = paste(length(found$lambda), length(expected$lambda)), excess = NA)
  }
  do.call(rbind, rows)
}

# Results of a child, or NULL if it fails or takes too long.
in_child <- function(name, family) {
  job <- parallel::mcparallel(compare(name, family))
  found <- parallel::mccollect(job, wait = FALSE, timeout = 4 * most_seconds)
  if (is.null(found)) {
    tools::pskill(job$pid, tools::SIGKILL)
    parallel::mccollect(job)
    cat(sprintf("%-22s %-12s left out: longer than %g s\n", name, family, 4 * most_seconds))
    return(NULL)
  }
  parallel::mccollect(job, wait = FALSE)
  if (inherits(found[[1]], "try-error")) cat(name, family, found[[1]])
  if (is.data.frame(found[[1]])) found[[1]] else NULL
}

print_rows <- function(rows) {
  for (i in seq_len(nrow(rows))) {
    r <- rows[i, ]
    cat(sprintf("%-22s %8s %-12s %-5s %9.3f %9.3f %7.2f  %-8s %9.1e\n", r$set, paste0(r$rows, " x ", r$columns),
                r$family, r$kind, r$ours, r$theirs, r$theirs / max(r$ours, 1e-3), r$models, r$excess))
  }
}

wanted <- strsplit(arguments, ":")
if (length(wanted) == 0) {
  sets <- basename(dirname(Sys.glob(file.path(data_folder, "*", "train.libsvm.xz"))))
  wanted <- lapply(sets, function(set) set)
}
all <- NULL
for (one in wanted) {
  for (family in if (length(one) > 1) one[-1] else families) {
    rows <- in_child(one[1], family)
    if (is.null(rows)) next
    print_rows(rows)
    all <- rbind(all, rows)
  }
}
all$ratio <- all$theirs / pmax(all$ours, 1e-3)
cat("\nThe worst ten\n")
print_rows(head(all[order(all$ratio), ], 10))
cat(sprintf("\n%d rows, median ratio %.2f; below 1.5: %d, below 3: %d; excess at most %.1e\n", nrow(all),
            median(all$ratio), sum(all$ratio < 1.5), sum(all$ratio < 3), max(all$excess, na.rm = TRUE)))
