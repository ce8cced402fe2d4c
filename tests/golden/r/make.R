# Fits generalised linear models with R's glm, MASS's glm.nb and nnet's multinom (Debian: r-base-core r-cran-mass r-cran-nnet
# r-cran-sandwich) and writes results.json.
#   Rscript make.R [DATA OUTPUT]      (../data results.json; DATA is a folder of NAME.libsvm)
#
# Every model is fitted to a tolerance far below what the tests compare to. Weights and standard errors: features in their order,
# then the intercept; hc0 and hc1: standard errors by sandwich::vcovHC; covariance: its HC0 matrix, row by row, of some models;
# fewer: the likelihood-ratio test of anova() against the model of the first features; of several classes one list for each class but the reference, which is the last one in the order of first rows.
suppressMessages({library(MASS); library(nnet); library(sandwich)})
arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) == 0) arguments <- c("../data", "results.json")

read_libsvm <- function(name) {
  lines <- strsplit(readLines(file.path(arguments[1], paste0(name, ".libsvm"))), " ")
  y <- as.numeric(sapply(lines, `[`, 1))
  cells <- lapply(lines, function(words) do.call(rbind, lapply(strsplit(words[-1], ":"), as.numeric)))
  x <- matrix(0, length(y), max(sapply(cells, function(c) max(c[, 1]))))
  for (i in seq_along(y)) x[i, cells[[i]][, 1]] <- cells[[i]][, 2]
  list(x = x, y = y)
}

number <- function(v) if (is.na(v)) "null" else sprintf("%.17g", v)
numbers <- function(v) paste0("[", paste(sapply(v, number), collapse = ","), "]")
text <- function(v) paste0("\"", v, "\"")
line <- function(...) {
  fields <- list(...)
  paste0("  {", paste(sprintf("\"%s\": %s", names(fields), unlist(fields)), collapse = ", "), "}")
}

# Row i has weight 1 + i mod 3 (i from 1) where `weighted`, and the exposure 1 + i mod 4 where `exposed`.
weights_of <- function(weighted, n) if (weighted) 1 + seq_len(n) %% 3 else rep(1, n)
exposures_of <- function(exposed, n) if (exposed) 1 + seq_len(n) %% 4 else rep(1, n)
intercept_last <- function(v) c(v[-1], v[1])
control <- glm.control(epsilon = 1e-15, maxit = 200)

family_of <- list(gaussian = gaussian(), binomial = binomial(), `binomial probit` = binomial("probit"),
                  `binomial cloglog` = binomial("cloglog"), poisson = poisson(), gamma = Gamma("log"),
                  `gamma inverse` = Gamma("inverse"), `inverse-gaussian` = inverse.gaussian(),
                  `quasi-binomial` = quasibinomial(), `quasi-binomial probit` = quasibinomial("probit"),
                  `quasi-poisson` = quasipoisson())

# Where z must stay above 0, R begins at the model without features.
start_of <- function(family, y, features) {
  if (family == "gamma inverse") c(1 / mean(y), rep(0, features))
  else if (family == "inverse-gaussian") c(1 / mean(y)^2, rep(0, features))
}

fewer_features <- 5

one_value <- function(data, family, weighted = FALSE, exposed = FALSE, intercept = TRUE, matrix = FALSE) {
  table <- read_libsvm(data)
  n <- length(table$y)
  classes <- grepl("binomial", family) && family != "negative-binomial"
  # The class of the first row, or +1 where that is -1, has positive decision values.
  first <- if (table$y[1] == -1) 1 else table$y[1]
  frame <- data.frame(y = if (classes) as.numeric(table$y == first) else table$y, table$x)
  frame$s <- weights_of(weighted, n)
  frame$o <- log(exposures_of(exposed, n))
  of_features <- function(features) {
    formula <- as.formula(paste("y ~", if (intercept) "" else "0 +", paste0("X", seq_len(features), collapse = " + ")))
    if (family == "negative-binomial")
      suppressWarnings(glm.nb(formula, data = frame, weights = s, control = control))
    else
      suppressWarnings(glm(formula, family_of[[family]], frame, weights = s, offset = o, control = control,
                           start = start_of(family, table$y, features)))
  }
  fit <- of_features(ncol(table$x))
  order <- if (intercept) intercept_last else identity
  summary <- summary(fit)
  robust <- lapply(c(HC0 = "HC0", HC1 = "HC1"), function(type) vcovHC(fit, type = type))
  places <- order(seq_along(coef(fit)))
  fewer <- of_features(fewer_features)
  test <- unlist(tail(if (family == "negative-binomial") anova(fewer, fit)[, c("LR stat.", "   df", "Pr(Chi)")]
                      else anova(fewer, fit, test = "LRT")[, c("Deviance", "Df", "Pr(>Chi)")], 1))
  # anova() shows differences of deviances; the test divides them by the dispersion of the larger model.
  if (family != "negative-binomial") test[1] <- test[1] / summary$dispersion
  line(program = text(paste0("R's ", if (family == "negative-binomial") "MASS::glm.nb" else "glm")), data = text(data),
       family = text(family), weighted = tolower(weighted), exposed = tolower(exposed), intercept = tolower(intercept),
       weights = numbers(order(coef(fit))), errors = numbers(order(summary$coefficients[, 2])),
       p = numbers(order(summary$coefficients[, 4])), deviance = number(fit$deviance), null = number(fit$null.deviance),
       aic = number(AIC(fit)), bic = number(BIC(fit)), dispersion = number(summary$dispersion),
       theta = number(if (is.null(fit$theta)) NA else fit$theta), hc0 = numbers(order(sqrt(diag(robust$HC0)))),
       hc1 = numbers(order(sqrt(diag(robust$HC1)))),
       covariance = if (matrix) numbers(robust$HC0[places, places]) else "null", fewer = numbers(test))
}

# Standard errors by the second derivatives of the likelihood, the sum over rows of s (diag(p) - p p') x x', as multinom(Hess = TRUE)
# has them; that fails where there are offsets.
errors_of <- function(fit, x, s) {
  p <- fitted(fit)[, -1, drop = FALSE]
  information <- 0
  for (i in seq_len(nrow(x)))
    information <- information + s[i] * kronecker(diag(p[i, ]) - tcrossprod(p[i, ]), tcrossprod(x[i, ]))
  matrix(sqrt(diag(solve(information))), ncol(p), byrow = TRUE)
}

# The target in as many classes as there are limits and one more: 0 below the first, and so on. Row i has the offset log(1 + (i + 2 k)
# mod 5) in class k (both from 1, classes in the order of first rows) where `offset`.
several <- function(data, limits, weighted = FALSE, offset = FALSE) {
  table <- read_libsvm(data)
  n <- length(table$y)
  class <- findInterval(table$y, limits)
  order <- unique(class)
  frame <- data.frame(y = factor(class, c(rev(order)[1], rev(rev(order)[-1]))), table$x)
  frame$s <- weights_of(weighted, n)
  shifts <- outer(seq_len(n), seq_along(order), function(i, k) if (offset) log(1 + (i + 2 * k) %% 5) else 0 * i)
  shifts <- shifts[, match(levels(frame$y), order)]
  fit <- multinom(y ~ . - s + offset(shifts), frame, weights = s, reltol = 1e-18, abstol = 0, maxit = 100000, trace = FALSE)
  estimates <- coef(fit)
  null <- multinom(y ~ 1 + offset(shifts), frame, weights = s, reltol = 1e-18, abstol = 0, maxit = 10000, trace = FALSE)
  lists <- function(m) paste0("[", paste(apply(m, 1, function(r) numbers(intercept_last(r))), collapse = ","), "]")
  line(program = text("nnet::multinom"), data = text(data), limits = numbers(limits), weighted = tolower(weighted),
       offset = tolower(offset), weights = lists(estimates), errors = lists(errors_of(fit, cbind(1, table$x), frame$s)), deviance = number(fit$deviance),
       null = number(null$deviance), aic = number(AIC(fit)))
}

target <- "diabetes_reg_scale"
cases <- c(
  one_value("heart_scale", "binomial"),
  one_value("heart_scale", "binomial", weighted = TRUE, matrix = TRUE),
  one_value("heart_scale", "binomial", intercept = FALSE),
  one_value("heart_scale", "binomial probit"),
  one_value("heart_scale", "binomial cloglog", weighted = TRUE),
  one_value(target, "gaussian"),
  one_value(target, "gaussian", weighted = TRUE),
  one_value(target, "poisson"),
  one_value(target, "poisson", weighted = TRUE, exposed = TRUE),
  one_value(target, "gamma"),
  one_value(target, "gamma", weighted = TRUE, exposed = TRUE),
  one_value(target, "gamma inverse", matrix = TRUE),
  one_value(target, "inverse-gaussian"),
  one_value(target, "negative-binomial"),
  one_value("heart_scale", "quasi-binomial", weighted = TRUE),
  one_value("heart_scale", "quasi-binomial probit"),
  one_value(target, "quasi-poisson"),
  one_value(target, "quasi-poisson", weighted = TRUE, exposed = TRUE))
classes <- c(several(target, c(95, 175)), several(target, c(95, 175), weighted = TRUE), several(target, c(80, 120, 160, 220)),
             several(target, c(95, 175), offset = TRUE), several(target, c(80, 120, 160, 220), weighted = TRUE, offset = TRUE))
writeLines(c(paste0("{\"version\": \"", R.version.string, "\", \"cases\": ["), paste(cases, collapse = ",\n"), "], \"classes\": [",
             paste(classes, collapse = ",\n"), "]}"), arguments[2])
