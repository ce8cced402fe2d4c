birth <- MASS::birthwt
features <- model.matrix(bwt ~ age * lwt + smoke + ptl + ht + ui + ftv, birth)[, -1]
without <- features[, colnames(features) != "ftv"]
gammas <- c(0, 0.3, 1)

# glmnet mixes at 1e-5 where gamma is 0.
expect_like_relaxed <- function(found, expected, x, s, newoffset = NULL, tolerance = 1e-4) {
  expect_s3_class(found, c("sheaf_relaxed", "sheaf_net"))
  expect_true(all(names(expected) %in% names(found)))
  ours <- found$relaxed
  theirs <- expected$relaxed
  expect_true(all(names(theirs) %in% names(ours)))
  expect_identical(ours$lambda, theirs$lambda)
  expect_identical(ours$df, as.integer(theirs$df))
  expect_close(ours$dev.ratio, theirs$dev.ratio, tolerance)
  expect_close(coefficients_of(ours), coefficients_of(theirs), tolerance)
  expect_identical(dimnames(ours$a0), dimnames(theirs$a0))
  for (gamma in gammas) {
    expect_close(stack(coef(found, s = s, gamma = gamma)), stack(coef(expected, s = s, gamma = gamma)), tolerance)
    predicted <- function(fit) as.vector(predict(fit, x, s = s, gamma = gamma, newoffset = newoffset))
    expect_close(predicted(found), predicted(expected), tolerance)
  }
  chosen <- function(fit) unname(as.list(predict(fit, s = s, gamma = 0.5, type = "nonzero")))
  expect_identical(chosen(found), chosen(expected))
}

# Of several classes side by side.
stack <- function(coefficients) if (is.list(coefficients)) do.call(cbind, coefficients) else coefficients
coefficients_of <- function(path) rbind(as.vector(t(path$a0)), as.matrix(stack(path$beta)))

# Without what all classes of a row share, on which no probability depends.
between_classes <- function(link) {
  as.vector(if (length(dim(link)) == 3) sweep(link, c(1, 3), apply(link, c(1, 3), mean)) else link)
}

expect_like_cv <- function(found, expected) {
  expect_s3_class(found, c("cv_sheaf_relaxed", "cv_sheaf_net"))
  expect_true(all(names(expected) %in% names(found)))
  expect_identical(names(found$relaxed), names(expected$relaxed))
  expect_identical(names(found$relaxed$statlist), names(expected$relaxed$statlist))
  for (gamma in names(expected$relaxed$statlist)) {
    ours <- found$relaxed$statlist[[gamma]]
    theirs <- expected$relaxed$statlist[[gamma]]
    expect_identical(names(ours), names(theirs))
    for (name in c("lambda", "cvm", "cvup", "cvlo")) expect_close(ours[[name]], theirs[[name]], 1e-4)
    expect_close(ours$cvsd, theirs$cvsd, 1e-3)
    expect_identical(ours$nzero, theirs$nzero)
    expect_close(between_classes(found$fit.preval[[gamma]]), between_classes(expected$fit.preval[[gamma]]), 1e-3)
  }
  chosen <- c("gamma", "lambda.min", "lambda.1se", "gamma.min", "gamma.1se", "index")
  expect_equal(found$relaxed[chosen], expected$relaxed[chosen])
  expect_equal(found$relaxed$nzero.min, unname(expected$relaxed$nzero.min))
  expect_equal(found[c("lambda.min", "lambda.1se", "index")], expected[c("lambda.min", "lambda.1se", "index")])
  for (s in list("lambda.1se", "lambda.min", found$lambda[2])) {
    expect_close(stack(coef(found, s = s)), stack(coef(expected, s = s)), 1e-3)
    expect_close(stack(coef(found, s = s, gamma = "gamma.min")), stack(coef(expected, s = s, gamma = "gamma.min")),
                 1e-3)
    expect_close(stack(coef(found, s = s, gamma = 0.4)), stack(coef(expected, s = s, gamma = 0.4)), 1e-3)
  }
}

# glmnet evaluates its call again, where variables of the caller are not seen.
relaxed_glmnet <- function(...) do.call(glmnet::glmnet, list(..., relax = TRUE))

test_that("relaxed models of numbers are those of glmnet", {
  sets <- list(list(as.matrix(mtcars[, -1]), mtcars$mpg), list(as.matrix(swiss[, -1]), swiss$Fertility),
               list(features, birth$bwt))
  for (set in sets) {
    x <- set[[1]]
    for (alpha in c(1, 0.5)) {
      lambda <- glmnet::glmnet(x, set[[2]], alpha = alpha)$lambda[seq(2, 50, 7)]
      expected <- relaxed_glmnet(x, set[[2]], alpha = alpha, lambda = lambda, thresh = 1e-16, maxit = 1e7)
      found <- sheaf_net(x, set[[2]], alpha = alpha, lambda = lambda, relax = TRUE, thresh = 1e-12)
      expect_like_relaxed(found, expected, x, lambda[c(2, 5)] * 0.9)
    }
  }
})

test_that("relaxed models of classes and counts are those of glmnet", {
  compare <- function(x, y, family, lambda, ..., offset = NULL) {
    expected <- relaxed_glmnet(x, y, family, lambda = lambda, thresh = 1e-15, maxit = 1e7, offset = offset, ...)
    found <- sheaf_net(x, y, family, lambda = lambda, relax = TRUE, thresh = 1e-12, offset = offset, ...)
    expect_like_relaxed(found, expected, x, c(0.07, 0.02), offset)
  }
  lambda <- c(0.1, 0.05, 0.02, 0.01)
  w <- rep(1:3, length.out = nrow(birth))
  compare(as.matrix(MASS::Pima.tr[, 1:7]), MASS::Pima.tr$type, "binomial", lambda)
  compare(features, birth$low, "binomial", lambda, weights = w, penalty.factor = c(0, 1, 1, 2, 1, 1, 1, 3),
          offset = birth$lwt / 100)
  compare(features, birth$low, "binomial", lambda, standardize = FALSE, intercept = FALSE)
  compare(without, birth$ftv, "poisson", c(0.3, lambda), weights = w, offset = log(birth$age))
})

test_that("relaxed models of several classes or responses are those of glmnet", {
  compare <- function(y, family, lambda, ...) {
    expected <- relaxed_glmnet(features, y, family, lambda = lambda, thresh = 1e-14, maxit = 1e7, ...)
    found <- sheaf_net(features, y, family, lambda = lambda, relax = TRUE, thresh = 1e-13, ...)
    expect_close(found$relaxed$dev.ratio, expected$relaxed$dev.ratio, 1e-5)
    expect_close(coefficients_of(found$relaxed), coefficients_of(expected$relaxed), 1e-3)
    for (gamma in gammas) {
      for (type in c("link", "response")) {
        values <- function(fit) as.vector(predict(fit, features, s = c(0.07, 0.03), gamma = gamma, type = type))
        expect_close(values(found), values(expected), 1e-3)
      }
    }
  }
  lambda <- c(0.1, 0.05, 0.02)
  for (kind in c("ungrouped", "grouped")) {
    compare(factor(birth$race), "multinomial", lambda, type.multinomial = kind)
    compare(factor(birth$race), "multinomial", lambda, type.multinomial = kind, alpha = 0.3)
  }
  compare(cbind(weight = birth$bwt / 500, visits = birth$ftv, race = birth$race), "mgaussian", c(0.3, lambda))
})

test_that("relaxed Cox models are those of glmnet", {
  skip_if_not_installed("survival")
  lung <- stats::na.omit(survival::lung)
  x <- as.matrix(lung[, c("age", "sex", "ph.ecog", "ph.karno", "pat.karno", "meal.cal", "wt.loss")])
  # glmnet's models depend on the order of rows where times tie, so that times are made to differ.
  y <- survival::Surv(lung$time + seq_len(nrow(lung)) / 1e4, lung$status)
  lambda <- c(0.1, 0.05, 0.02)
  for (offset in list(NULL, lung$wt.loss / 50)) {
    expected <- relaxed_glmnet(x, y, "cox", lambda = lambda, offset = offset, thresh = 1e-14)
    found <- sheaf_net(x, y, "cox", lambda = lambda, offset = offset, relax = TRUE, thresh = 1e-12)
    expect_close(found$relaxed$beta, expected$relaxed$beta, 1e-4)
    expect_close(found$relaxed$dev.ratio, expected$relaxed$dev.ratio, 1e-4)
    for (gamma in gammas) {
      expect_close(predict(found, x, s = 0.04, gamma = gamma, newoffset = offset),
                   predict(expected, x, s = 0.04, gamma = gamma, newoffset = offset), 1e-4)
    }
  }
  chosen <- which(found$beta[, 3] != 0)
  unpenalised <- survival::coxph(y ~ x[, chosen] + offset(lung$wt.loss / 50), ties = "breslow")
  expect_close(found$relaxed$beta[chosen, 3], unname(coef(unpenalised)), 1e-5)
  folds <- rep(1:5, length.out = nrow(x))
  for (measure in c("deviance", "C")) {
    expect_like_cv(
      cv_sheaf_net(x, y, family = "cox", foldid = folds, type.measure = measure, lambda = lambda, relax = TRUE,
                   thresh = 1e-12, keep = TRUE),
      glmnet::cv.glmnet(x, y, family = "cox", foldid = folds, type.measure = measure, lambda = lambda, relax = TRUE,
                        thresh = 1e-14, keep = TRUE)
    )
  }
})

test_that("relaxed Cox models of strata are those of coxph(), and features that strata share are not determined", {
  skip_if_not_installed("glmnet", "4.1")
  lung <- stats::na.omit(survival::lung)
  x <- as.matrix(lung[, c("age", "ph.ecog", "pat.karno", "wt.loss")])
  y <- survival::Surv(lung$time, lung$status)
  of_strata <- glmnet::stratifySurv(y, lung$sex)
  strata <- survival::strata
  found <- expect_silent(sheaf_net(x, of_strata, "cox", lambda = c(0.1, 0.01), relax = TRUE, thresh = 1e-12))
  chosen <- which(found$beta[, 2] != 0)
  expected <- survival::coxph(y ~ x[, chosen] + strata(lung$sex), ties = "breslow")
  expect_close(found$relaxed$beta[chosen, 2], coef(expected))
  # A feature of the stratum alone, and one that is another up to a number of the stratum's own.
  shifted <- x[, "age"] + 100 * lung$sex
  expect_warning(sheaf_net(cbind(x, sex = lung$sex), of_strata, "cox", lambda = 0.01, relax = TRUE,
                           penalty.factor = c(1, 1, 1, 1, 0)), "not determined")
  expect_warning(sheaf_net(cbind(x, shifted), of_strata, "cox", lambda = 0.01, relax = TRUE,
                           penalty.factor = c(0, 1, 1, 1, 0)), "not determined")
  expect_silent(sheaf_net(cbind(x, shifted), y, "cox", lambda = 0.01, relax = TRUE,
                          penalty.factor = c(0, 1, 1, 1, 0)))
  # Rows of a stratum without events are compared with none.
  alone <- ifelse(lung$sex == 2, x[, "age"], 0)
  y[lung$sex == 2, 2] <- 0
  expect_warning(sheaf_net(cbind(x, alone), glmnet::stratifySurv(y, lung$sex), "cox", lambda = 0.01, relax = TRUE,
                           penalty.factor = c(1, 1, 1, 1, 0)), "not determined")
})

test_that("cross-validated relaxed models are those of cv.glmnet", {
  compare <- function(x, y, ..., lambda, thresh = 1e-12) {
    folds <- rep(1:5, length.out = nrow(x))
    found <- cv_sheaf_net(x, y, ..., lambda = lambda, foldid = folds, relax = TRUE, keep = TRUE, thresh = thresh)
    expect_like_cv(found, glmnet::cv.glmnet(x, y, ..., lambda = lambda, foldid = folds, relax = TRUE, keep = TRUE,
                                            thresh = 1e-14, maxit = 1e7))
    found
  }
  cars <- as.matrix(mtcars[, -1])
  found <- compare(cars, mtcars$mpg, lambda = c(5, 2, 1, 0.5, 0.2, 0.1))
  expect_close(predict(found, cars, s = "lambda.min"),
               predict(found$glmnet.fit, cars, s = found$relaxed$lambda.min, gamma = found$relaxed$gamma.min))
  compare(as.matrix(swiss[, -1]), swiss$Fertility, lambda = c(5, 2, 1, 0.5, 0.2), gamma = c(0.8, 0.1))
  pima <- as.matrix(MASS::Pima.tr[, 1:7])
  lambda <- c(0.1, 0.05, 0.02, 0.01)
  for (measure in c("deviance", "class", "auc")) {
    compare(pima, MASS::Pima.tr$type, family = "binomial", type.measure = measure, lambda = lambda)
  }
  compare(features, birth$low, family = "binomial", weights = rep(1:3, length.out = nrow(birth)),
          offset = birth$lwt / 100, penalty.factor = c(0, 1, 1, 2, 1, 1, 1, 3), lambda = lambda)
  compare(without, birth$ftv, family = "poisson", type.measure = "mae", lambda = c(0.3, lambda))
  compare(features, factor(birth$race), family = "multinomial", lambda = lambda[1:3], thresh = 1e-13)
})

test_that("folds are dealt and penalties found as without relaxed models", {
  set.seed(3)
  plain <- cv_sheaf_net(features, birth$bwt, nfolds = 4)
  set.seed(3)
  relaxed <- cv_sheaf_net(features, birth$bwt, nfolds = 4, relax = TRUE)
  expect_identical(relaxed$lambda, plain$lambda)
  expect_close(relaxed$cvm, plain$cvm)
  expect_close(relaxed$relaxed$statlist[["g:1"]]$cvm, plain$cvm)
  expect_identical(relaxed$index, plain$index)
})

test_that("models with more than maxp features have no relaxed ones", {
  x <- as.matrix(mtcars[, -1])
  lambda <- c(5, 2, 1, 0.5, 0.2)
  found <- sheaf_net(x, mtcars$mpg, lambda = lambda, relax = TRUE, maxp = 5)
  expected <- relaxed_glmnet(x, mtcars$mpg, lambda = lambda, maxp = 5, thresh = 1e-14)
  expect_identical(found$relaxed$lambda, expected$relaxed$lambda)
  expect_close(coefficients_of(found$relaxed), coefficients_of(expected$relaxed), 1e-4)
  for (gamma in gammas) expect_close(coef(found, gamma = gamma), coef(expected, gamma = gamma), 1e-4)
  expect_output(print(found), "NA")
  folds <- rep(1:4, 8)
  ours <- cv_sheaf_net(x, mtcars$mpg, lambda = lambda, foldid = folds, relax = TRUE, maxp = 5)
  theirs <- glmnet::cv.glmnet(x, mtcars$mpg, lambda = lambda, foldid = folds, relax = TRUE, maxp = 5, thresh = 1e-14)
  for (k in 1:5) expect_close(ours$relaxed$statlist[[k]]$cvm, theirs$relaxed$statlist[[k]]$cvm, 1e-4)
  # More columns than rows: at most as many features as there are rows less 3.
  wide <- cbind(x[, 2:6], x[, 2:6]^2, log1p(x[, 2:6]))[1:12, ]
  found <- sheaf_net(wide, mtcars$mpg[1:12], relax = TRUE)
  expect_lte(max(found$relaxed$df), 9)
  expect_true(all(found$relaxed$dev.ratio >= found$dev.ratio[seq_along(found$relaxed$lambda)] - 1e-8))
})

test_that("sparse data give the relaxed models of dense data", {
  sparse <- as(features, "CsparseMatrix")
  relaxed <- function(x) coef(sheaf_net(x, birth$bwt, lambda = c(100, 30, 10), relax = TRUE), gamma = 0)
  expect_close(relaxed(sparse), relaxed(features))
})

test_that("relaxed models that are separated or not determined give warnings", {
  flowers <- as.matrix(iris[, 1:4])
  first <- factor(iris$Species == "setosa")
  expect_warning(found <- sheaf_net(flowers, first, "binomial", lambda = c(0.3, 0.1), relax = TRUE), "certain")
  expect_true(all(is.finite(as.matrix(coef(found, gamma = 0)))))
  expect_true(all(found$relaxed$dev.ratio > 0.999))
  three <- suppressWarnings(sheaf_net(flowers, iris$Species, "multinomial", lambda = 0.1, relax = TRUE))
  expect_true(all(is.finite(as.matrix(stack(coef(three, gamma = 0))))))
  none <- as.double(birth$ht == 1)
  zeros <- birth$ftv * (1 - none)
  expect_warning(sheaf_net(cbind(none, birth$age), zeros, "poisson", lambda = 0.01, relax = TRUE), "rate")
  expect_silent(sheaf_net(without, birth$ftv, "poisson", offset = rep(20, nrow(birth)), lambda = 0.1, relax = TRUE))
  twice <- cbind(features, both = features[, "age"] + features[, "lwt"])
  factors <- c(0, 0, rep(1, 6), 0)
  expect_warning(found <- sheaf_net(twice, birth$bwt, lambda = 100, penalty.factor = factors, relax = TRUE),
                 "not determined")
  set <- found$beta[, 1] != 0
  expect_close(predict(found, twice, gamma = 0), fitted(lm(birth$bwt ~ twice[, set])), 1e-4)
  expect_silent(sheaf_net(features, birth$low, "binomial", lambda = c(0.1, 0.01), relax = TRUE))
})

test_that("arguments of relaxed models are checked", {
  x <- as.matrix(mtcars[, -1])
  y <- mtcars$mpg
  expect_names_argument(sheaf_net(x, y, relax = "yes"), "relax")
  expect_names_argument(sheaf_net(x, y, relax = TRUE, maxp = "many"), "maxp")
  expect_names_argument(sheaf_net(x, y, relax = TRUE, maxp = -1), "maxp")
  expect_names_argument(sheaf_net(x, y, relax = TRUE, maxp = 2, lambda = 0.01), "maxp")
  expect_names_argument(cv_sheaf_net(x, y, relax = NA), "relax")
  expect_names_argument(cv_sheaf_net(x, y, relax = TRUE, maxp = c(1, 2)), "maxp")
  for (gamma in list(2, -0.1, NA, "gamma.min", numeric())) {
    expect_names_argument(cv_sheaf_net(x, y, relax = TRUE, gamma = gamma), "gamma")
  }
  found <- cv_sheaf_net(x, y, relax = TRUE, foldid = rep(1:4, 8), lambda = c(2, 1, 0.5))
  for (gamma in list(2, -0.1, NA_real_, c(0, 1), "gamma.2se")) {
    expect_names_argument(coef(found, gamma = gamma), "gamma")
    expect_names_argument(predict(found$glmnet.fit, x, gamma = gamma), "gamma")
  }
  expect_names_argument(coef(found, s = "lambda.2se"), "s")
  expect_names_argument(predict(found), "newx")
  expect_names_argument(plot(found$glmnet.fit, xvar = "norm"), "xvar")
  expect_names_argument(plot(found$glmnet.fit, gamma = 3), "gamma")
})

test_that("prints, plots and tables of relaxed models are there", {
  x <- as.matrix(mtcars[, -1])
  found <- cv_sheaf_net(x, mtcars$mpg, relax = TRUE, foldid = rep(1:4, 8), lambda = c(5, 2, 1, 0.5))
  path <- found$glmnet.fit
  expect_output(print(found), "Gamma")
  expect_output(print(path), "%Dev R")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (bands in c(TRUE, FALSE)) expect_silent(plot(found, se.bands = bands))
  for (xvar in c("lambda", "dev")) expect_silent(plot(path, xvar = xvar, gamma = 0, label = TRUE))
  table <- tidy(found)
  expect_identical(table$estimate[table$gamma == 0.25], unname(found$relaxed$statlist[["g:0.25"]]$cvm))
  expect_identical(glance(found)$gamma.min, found$relaxed$gamma.min)
  expect_identical(tidy(path)$estimate, tidy(path, gamma = 1)$estimate)
  expect_close(tidy(path, gamma = 0, return_zeros = TRUE)$estimate, as.vector(as.matrix(coef(path, gamma = 0))))
  expect_identical(glance(path)$nobs, 32L)
  skip_if_not_installed("ggplot2")
  drawn <- function(plot) ggplot2::ggplot_build(plot)$data[[1]]
  expect_identical(nrow(drawn(ggplot2::autoplot(found))), 20L)
  used <- sum(Matrix::rowSums(path$relaxed$beta != 0) > 0)
  expect_identical(nrow(drawn(ggplot2::autoplot(path, gamma = 0))), used * ncol(path$relaxed$beta))
})

test_that("relaxed coefficients stay within their limits, as glmnet's do", {
  limits <- list(lower.limits = -40, upper.limits = c(3, rep(Inf, ncol(without) - 1)))
  both <- function(fit, ...) do.call(fit, c(list(without, birth$bwt, relax = TRUE, ...), limits))
  expected <- both(glmnet::glmnet, thresh = 1e-14)
  found <- both(sheaf_net, lambda = expected$lambda)
  last <- length(expected$lambda)
  expect_true(any(abs(as.matrix(found$relaxed$beta)[, last] + 40) < 1e-9))
  expect_close(as.matrix(coef(found, gamma = 0, s = expected$lambda[last])),
               as.matrix(coef(expected, gamma = 0, s = expected$lambda[last])), 1e-4)
})
