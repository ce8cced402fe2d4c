# The R package against glmnet, e1071, nnet and glm(): whole calls from R, both in one run.
#
#     R_LIBS=build/r/library Rscript bench/r_package.R [net] [tall] [families] [cox] [svm] [multinom] [mnist] [select] [overhead]
#
# Seconds of the processors (which count where other work shares the cores) and by the clock, the least of several
# rounds.
# Data lie beside the checkout (../shared/data, or SHEAF_DATA); sets that are not there are left out.
suppressPackageStartupMessages({
  library(sheaf)
  library(Matrix)
})

script <- sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))
data_folder <- Sys.getenv("SHEAF_DATA", file.path(dirname(script), "..", "..", "shared", "data"))

read_libsvm <- function(name) {
  file <- file.path(data_folder, name, "train.libsvm.xz")
  if (!file.exists(file)) {
    cat(name, "is not there and is left out\n")
    return(NULL)
  }
  found <- sheaf_read(file)
  list(x = as.matrix(found$x), y = as.numeric(as.character(found$y)))
}

# Seconds of the processors and by the clock: the least of the rounds.
seconds <- function(expr, rounds) {
  expr <- substitute(expr)
  envir <- parent.frame()
  times <- vapply(seq_len(rounds), function(round) {
    gc()
    time <- system.time(eval(expr, envir))
    c(sum(time[c("user.self", "sys.self", "user.child", "sys.child")]), time[["elapsed"]])
  }, c(0, 0))
  apply(times, 1, min)
}

report <- function(name, ours, theirs) {
  cat(sprintf("%-52s %8.3f %8.3f %7.1fx   clock %8.3f %8.3f %7.1fx\n", name, ours[1], theirs[1], theirs[1] / ours[1],
              ours[2], theirs[2], theirs[2] / ours[2]))
}

# Twice: against cv.glmnet() as it is called, and with a thresh that makes its models about as exact as Sheaf's.
bench_net <- function() {
  cat("\ncv_sheaf_net, cv.glmnet: 100 penalties, 10 folds\n")
  for (name in c("leukemia", "colon-cancer", "prostate_singh", "duke")) {
    set <- read_libsvm(name)
    if (is.null(set)) next
    y <- factor(set$y == max(set$y))
    foldid <- rep(1:10, length.out = nrow(set$x))
    for (family in c("gaussian", "binomial")) {
      target <- if (family == "gaussian") as.numeric(y) else y
      ours <- seconds(found <- cv_sheaf_net(set$x, target, family = family, foldid = foldid), 2)
      theirs <- seconds(expected <- glmnet::cv.glmnet(set$x, target, family = family, foldid = foldid), 1)
      report(paste0(name, " (", nrow(set$x), " x ", ncol(set$x), "), ", family), ours, theirs)
      exact <- seconds(glmnet::cv.glmnet(set$x, target, family = family, foldid = foldid, thresh = 1e-13), 1)
      report("    cv.glmnet with thresh = 1e-13", ours, exact)
      cat(sprintf("    lambda.min %.4g and %.4g, its score %.4f and %.4f; %d and %d penalties\n", found$lambda.min,
                  expected$lambda.min, min(found$cvm), min(expected$cvm), length(found$lambda),
                  length(expected$lambda)))
    }
  }
}

# More rows than features, or about as many: one path, or ten folds. Defaults of both.
bench_tall <- function() {
  cat("\nsheaf_net, glmnet: one path; cv_sheaf_net, cv.glmnet: 10 folds; few features\n")
  draw <- function(rows, columns) {
    set.seed(1)
    x <- matrix(rnorm(rows * columns), rows)
    z <- drop(x[, seq_len(min(10, columns))] %*% rep_len(c(0.3, -0.3), min(10, columns)))
    list(x = x, gaussian = z + rnorm(rows), binomial = rbinom(rows, 1, 1 / (1 + exp(-z))), poisson = rpois(rows, exp(z)),
         cox = survival::Surv(rexp(rows, exp(z)), rbinom(rows, 1, 2 / 3)))
  }
  compare <- function(name, x, y, family, folds = NULL) {
    if (is.null(folds)) {
      ours <- seconds(found <- sheaf_net(x, y, family), 3)
      theirs <- seconds(expected <- suppressWarnings(glmnet::glmnet(x, y, family)), 3)
    } else {
      foldid <- rep_len(seq_len(folds), nrow(x))
      ours <- seconds(found <- cv_sheaf_net(x, y, family = family, foldid = foldid), 2)
      theirs <- seconds(expected <- suppressWarnings(glmnet::cv.glmnet(x, y, family = family, foldid = foldid)), 2)
    }
    report(paste0(name, " ", nrow(x), " x ", ncol(x), ", ", family, if (!is.null(folds)) ", cv"), ours, theirs)
    cat(sprintf("    %d and %d penalties\n", length(found$lambda), length(expected$lambda)))
  }
  set <- draw(50000, 30)
  for (family in c("gaussian", "binomial", "poisson")) compare("drawn", set$x, set[[family]], family)
  set <- draw(5000, 10)
  for (family in c("gaussian", "binomial", "poisson", "cox")) compare("drawn", set$x, set[[family]], family, 10)
  set <- draw(1000, 100)
  for (family in c("gaussian", "binomial", "poisson")) compare("drawn", set$x, set[[family]], family, 10)
  set <- draw(1560, 617)
  compare("drawn", set$x, set$gaussian, "gaussian")
  text <- file.path(data_folder, "reuters_moneyfx", "train.libsvm.xz")
  if (file.exists(text)) {
    found <- sheaf_read(text)
    rows <- seq_len(1943)
    words <- found$x[rows, ]
    compare("text", words[, Matrix::colSums(words != 0) >= 3], factor(found$y[rows]), "binomial", 10)
  }
  set.seed(1)
  x <- matrix(rnorm(600 * 16), 600)
  compare("drawn", x, factor(max.col(x[, 1:10] + matrix(rnorm(6000), 600))), "multinomial")
  compare("iris", as.matrix(iris[, 1:4]), iris$Species, "multinomial", 10)
  birth <- MASS::birthwt
  compare("birthwt", as.matrix(birth[, -c(1, 10)]), birth$low, "binomial", 10)
}

# Counts and several classes: Poisson counts drawn from five features, classes of the set itself.
bench_families <- function() {
  cat("\ncv_sheaf_net, cv.glmnet: 100 penalties, 5 folds, other families\n")
  for (name in c("leukemia", "colon-cancer", "duke")) {
    set <- read_libsvm(name)
    if (is.null(set)) next
    set.seed(4)
    y <- rpois(nrow(set$x), exp(drop(set$x[, 1:5] %*% rep(0.3, 5))))
    compare_families(name, set$x, y, "poisson")
  }
  for (name in c("GLIOMA", "mrmr_lymphoma3", "glass")) {
    set <- read_libsvm(name)
    if (is.null(set)) next
    large <- names(which(table(set$y) >= 8))
    rows <- as.character(set$y) %in% large
    compare_families(name, set$x[rows, ], factor(set$y[rows]), "multinomial")
  }
}

# Times drawn from five features, of which a third are censored.
bench_cox <- function() {
  cat("\ncv_sheaf_net, cv.glmnet: 100 penalties, 10 folds, family cox\n")
  for (name in c("leukemia", "colon-cancer", "prostate_singh", "duke")) {
    set <- read_libsvm(name)
    if (is.null(set)) next
    set.seed(5)
    lp <- drop(scale(set$x[, 1:5]) %*% rep(0.5, 5))
    y <- survival::Surv(rexp(nrow(set$x), exp(lp)), rbinom(nrow(set$x), 1, 2 / 3))
    compare_families(name, set$x, y, "cox", folds = 10)
  }
}

compare_families <- function(name, x, y, family, folds = 5) {
  foldid <- rep(seq_len(folds), length.out = nrow(x))
  ours <- seconds(found <- cv_sheaf_net(x, y, family = family, foldid = foldid), 1)
  theirs <- seconds(expected <- suppressWarnings(glmnet::cv.glmnet(x, y, family = family, foldid = foldid)), 1)
  report(paste0(name, " (", nrow(x), " x ", ncol(x), "), ", family), ours, theirs)
  cat(sprintf("    its score %.4f and %.4f; %d and %d penalties\n", min(found$cvm), min(expected$cvm),
              length(found$lambda), length(expected$lambda)))
}

# Multinomial regression with a ridge penalty of 0.001, for the classes of digits can be separated. nnet has it as decay
# (and penalises intercepts too); it takes minutes for 2,000 digits of MNIST and is left out there.
bench_mnist <- function(rows = 2000) {
  cat("\nsheaf_glm, nnet and glmnet: digits, multinomial regression\n")
  compare_digits("digits", digits$x / 16, digits$y, TRUE)
  set <- read_libsvm("mnist")
  if (is.null(set)) return(invisible())
  x <- set$x[seq_len(rows), ] / 255
  compare_digits("MNIST", x[, apply(x, 2, max) > 0], factor(set$y[seq_len(rows)]), FALSE)
}

compare_digits <- function(name, x, y, with_nnet) {
  name <- paste0(name, " (", nrow(x), " x ", ncol(x), ")")
  alpha <- 0.001
  lambda <- 10^seq(1, log10(alpha), length.out = 30)  # glmnet does not get there without steps on the way
  peers <- list(glmnet = quote(glmnet::glmnet(x, y, family = "multinomial", alpha = 0, lambda = lambda,
                                              standardize = FALSE)))
  if (with_nnet) {
    peers$nnet <- quote(nnet::nnet(x, model.matrix(~ y - 1), size = 0, skip = TRUE, softmax = TRUE,
                                   decay = alpha / 2 * nrow(x), MaxNWts = 1e5, maxit = 500, trace = FALSE))
  }
  for (peer in names(peers)) {
    theirs <- seconds(expected <- eval(peers[[peer]]), 1)
    shares <- if (peer == "nnet") expected$fitted.values else predict(expected, x, s = alpha, type = "response")[, , 1]
    for (solver in c("newton-cg", "lbfgs")) {
      ours <- seconds(found <- sheaf_glm(x, y, family = "multinomial", alpha = alpha, solver = solver,
                                         tolerance = 1e-5, model = FALSE), 1)
      report(paste0(name, ", ", solver, " and ", peer), ours, theirs)
    }
    cat(sprintf("    deviance %.3f and %.3f\n", deviance(found), -2 * sum(log(shares[cbind(seq_along(y), y)]))))
  }
}

bench_select <- function() {
  cat("\nsheaf_select(criterion = \"jmi\"), the same in plain R (all features, 10 picks)\n")
  for (name in c("mrmr_colon3", "mrmr_lymphoma3")) {
    set <- read_libsvm(name)
    if (is.null(set)) next
    y <- factor(set$y)
    ours <- seconds(found <- sheaf_select(set$x, y, k = 10), 3)
    theirs <- seconds(expected <- plain_jmi(set$x, as.integer(y), 10), 1)
    report(paste0(name, " (", nrow(set$x), " x ", ncol(set$x), ")"), ours, theirs)
    cat("    the same features:", identical(unname(found$selection), expected), "\n")
  }
}

# Joint mutual information (Yang and Moody 1999), by tables.
plain_jmi <- function(x, y, k) {
  information <- function(states) {
    counts <- table(states, y) / length(y)
    both <- outer(rowSums(counts), colSums(counts))
    sum(counts[counts > 0] * log2(counts[counts > 0] / both[counts > 0]))
  }
  chosen <- which.max(apply(x, 2, information))
  scores <- numeric(ncol(x))
  while (length(chosen) < k) {
    last <- x[, chosen[length(chosen)]]
    scores <- scores + apply(x, 2, function(column) information(1000 * column + last))
    chosen <- c(chosen, which.max(replace(scores, chosen, -Inf)))
  }
  unname(chosen)
}

bench_svm <- function() {
  cat("\ntune_sheaf_svm, e1071::tune: 5 costs x 5 gammas x 10 folds\n")
  set.seed(1)
  generated <- matrix(rnorm(1000 * 36), 1000)
  sets <- list(iris = list(x = as.matrix(iris[, 1:4]), y = iris$Species),
               generated = list(x = generated, y = factor(max.col(generated[, 1:4] + matrix(rnorm(4000), 1000) / 2))))
  for (name in c("glass", "vehicle", "vowel")) {
    set <- read_libsvm(name)
    if (!is.null(set)) sets[[name]] <- list(x = set$x, y = factor(set$y))
  }
  for (name in names(sets)) {
    set <- sets[[name]]
    for (scale in c(TRUE, FALSE)[seq_len(1 + (nrow(set$x) < 1000))]) {
      ranges <- list(cost = 10^(-1:3), gamma = 10^(-3:1) / ncol(set$x))
      ours <- seconds({
        set.seed(2)
        found <- tune_sheaf_svm(set$x, set$y, ranges = ranges, scale = scale)
      }, 2)
      theirs <- seconds({
        set.seed(2)
        expected <- e1071::tune(e1071::svm, set$x, set$y, ranges = ranges, scale = scale)
      }, 1)
      report(paste0(name, " (", nrow(set$x), " x ", ncol(set$x), ")", if (scale) ", scaled in the folds"), ours, theirs)
      cat(sprintf("    best error %.4f and %.4f\n", found$best.performance, expected$best.performance))
    }
  }
}

bench_multinom <- function() {
  cat("\nsheaf_glm, nnet::multinom: multinomial models without a penalty\n")
  set.seed(3)
  for (shape in list(c(5000, 20, 5), c(20000, 40, 10))) {
    x <- matrix(rnorm(shape[1] * shape[2]), shape[1], dimnames = list(NULL, paste0("f", seq_len(shape[2]))))
    eta <- x %*% matrix(rnorm(shape[2] * shape[3]) / 2, shape[2])
    y <- factor(max.col(eta - log(-log(matrix(runif(shape[1] * shape[3]), shape[1])))))
    frame <- data.frame(y = y, x)
    ours <- seconds(found <- sheaf_glm(x, y), 3)
    theirs <- seconds(expected <- nnet::multinom(y ~ ., frame, trace = FALSE, maxit = 500, MaxNWts = 1e5,
                                                 reltol = 1e-10), 1)
    name <- sprintf("%d x %d, %d classes", shape[1], shape[2], shape[3])
    report(paste0(name, ", with standard errors"), ours, theirs)
    cat(sprintf("    deviance %.6f and %.6f\n", deviance(found), deviance(expected)))
    conjugate <- seconds(found <- sheaf_glm(x, y, solver = "newton-cg", tolerance = 1e-8), 3)
    report(paste0(name, ", newton-cg"), conjugate, theirs)
    cat(sprintf("    deviance %.6f and %.6f\n", deviance(found), deviance(expected)))
  }
}

bench_overhead <- function() {
  cat("\nOverhead: one call on 32 rows, milliseconds\n")
  x <- as.matrix(mtcars[, -1])
  calls <- list(
    `sheaf_glm(x, y)` = quote(sheaf_glm(x[, 1:2], mtcars$mpg)),
    `glm(y ~ x)` = quote(glm(mpg ~ cyl + disp, data = mtcars)),
    `sheaf_distances(x)` = quote(sheaf_distances(x)),
    `sheaf_linear(x, y)` = quote(sheaf_linear(x, mtcars$am)),
    `sheaf_net(x, y), 5 penalties` = quote(sheaf_net(x, mtcars$mpg, lambda = 5:1))
  )
  for (name in names(calls)) {
    for (i in 1:20) eval(calls[[name]])
    time <- system.time(for (i in 1:200) eval(calls[[name]])) / 200 * 1000
    cat(sprintf("%-32s %.2f of the processors, %.2f by the clock\n", name, sum(time[1:2]), time[["elapsed"]]))
  }
}

wanted <- commandArgs(TRUE)
parts <- list(net = bench_net, tall = bench_tall, families = bench_families, cox = bench_cox, svm = bench_svm,
              multinom = bench_multinom, mnist = bench_mnist, select = bench_select, overhead = bench_overhead)
cat(sprintf("%-52s %8s %8s %8s\n", "", "Sheaf", "peer", "ratio"))
for (name in if (length(wanted) > 0) wanted else names(parts)) parts[[name]]()
