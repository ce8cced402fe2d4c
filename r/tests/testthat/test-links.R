# Means that vary by a third or so, so that every link takes them.
rows <- data.frame(x = sin(1:120), z = rep(0:3, 30) / 3, w = rep(1:3, 40))
mean <- 2 + 0.5 * rows$x + 0.4 * rows$z
noise <- stats::qnorm(((1:120 * 37) %% 121) / 121)
rows$normal <- mean + 0.3 * noise
rows$counts <- stats::qpois(stats::pnorm(noise), 2 * mean)
rows$positive <- stats::qgamma(stats::pnorm(noise), 8, 8 / mean)
rows$share <- as.double(stats::pnorm(noise) < mean / 6)

expect_like_glm <- function(formula, family, start = NULL, weights = TRUE) {
  w <- if (weights) rows$w else rep(1, nrow(rows))
  found <- sheaf_glm(formula, family = family, data = rows, weights = w, tolerance = 1e-11)
  expected <- stats::glm(formula, family = family, data = rows, weights = w, start = start, control = exact)
  expect_identical(found$family$link, expected$family$link)
  expect_close(coef(found), coef(expected))
  expect_close(vcov(found), vcov(expected), 1e-5)
  expect_close(deviance(found), deviance(expected))
  expect_close(found$null.deviance, expected$null.deviance)
  expect_identical(is.na(stats::AIC(found)), is.na(stats::AIC(expected)))
  if (!is.na(stats::AIC(expected))) expect_close(stats::AIC(found), stats::AIC(expected))
  expect_close(fitted(found), fitted(expected))
  for (type in c("deviance", "pearson", "working", "response")) {
    expect_close(residuals(found, type), residuals(expected, type), 1e-5)
  }
  expect_close(predict(found, rows[1:5, ], type = "response", se.fit = TRUE)$se.fit,
               predict(expected, rows[1:5, ], type = "response", se.fit = TRUE)$se.fit, 1e-5)
}

test_that("all links of glm() are those of glm()", {
  for (link in c("identity", "log", "inverse")) expect_like_glm(normal ~ x + z, gaussian(link))
  for (link in c("log", "identity", "sqrt")) expect_like_glm(counts ~ x + z, poisson(link))
  for (link in c("inverse", "identity", "log")) expect_like_glm(positive ~ x + z, Gamma(link))
  for (link in c("1/mu^2", "inverse", "identity", "log")) expect_like_glm(positive ~ x + z, inverse.gaussian(link))
  for (link in c("logit", "probit", "cloglog", "cauchit")) expect_like_glm(share ~ x + z, binomial(link))
  expect_like_glm(share ~ x + z, binomial("log"), start = c(-1, 0, 0))
})

test_that("quasi families have the variances and links of quasi()", {
  expect_like_glm(normal ~ x + z, stats::quasi("log", "constant"))
  expect_like_glm(counts ~ x + z, stats::quasi("log", "mu"))
  expect_like_glm(counts ~ x + z, stats::quasi("sqrt", "mu"))
  expect_like_glm(positive ~ x + z, stats::quasi("identity", "mu^2"))
  expect_like_glm(positive ~ x + z, stats::quasi("inverse", "mu^3"))
  start <- coef(stats::glm(share ~ x + z, stats::quasibinomial(), rows, w))
  expect_like_glm(share ~ x + z, stats::quasi("logit", "mu(1-mu)"), start)
  expect_like_glm(share ~ x + z, stats::quasibinomial("cauchit"))
  expect_like_glm(counts ~ x + z, stats::quasipoisson("identity"))
  expect_names_argument(sheaf_glm(counts ~ x, family = stats::quasi("inverse", "mu"), data = rows), "family")
  expect_names_argument(sheaf_glm(counts ~ x, family = poisson("inverse"), data = rows), "family")
})

test_that("links that keep linear predictors on one side of 0 refuse what would not", {
  expect_error(sheaf_glm(counts ~ x + offset(z), family = poisson("identity"), data = rows), "offset",
               class = "sheaf_error")
  expect_error(sheaf_glm(share ~ 0 + x, family = binomial("log"), data = rows), "intercept", class = "sheaf_error")
  expect_error(sheaf_glm(I(-normal) ~ x, family = gaussian("log"), data = rows), "mean", class = "sheaf_error")
})

test_that("start is where training begins: one step from there is that of glm() and coxph()", {
  for (case in list(list(counts ~ x + z, stats::poisson(), c(1.5, 0.1, 0.3)),
                    list(share ~ x + z, stats::binomial(), c(-1, 0.5, 0.5)), list(counts ~ 1, stats::poisson(), 1))) {
    expected <- suppressWarnings(stats::glm(case[[1]], case[[2]], rows, w, start = case[[3]], maxit = 1))
    found <- suppressWarnings(sheaf_glm(case[[1]], family = case[[2]], data = rows, weights = w, start = case[[3]],
                                        maxit = 1, solver = "newton"))
    expect_close(coef(found), coef(expected))
  }
  skip_if_not_installed("survival")
  lung <- stats::na.omit(survival::lung)
  y <- survival::Surv(lung$time, lung$status)
  x <- as.matrix(lung[c("age", "ph.ecog")])
  expected <- suppressWarnings(survival::coxph(y ~ x, init = c(0.01, 0.3), iter.max = 1))
  found <- suppressWarnings(sheaf_glm(x, y, start = c(0.01, 0.3), maxit = 1, solver = "newton"))
  expect_close(unname(coef(found)), unname(coef(expected)))
})

test_that("the optimum does not depend on start, from which little is left to do if it is there", {
  x <- as.matrix(rows[c("x", "z")])
  y <- cut(rows$normal, c(-Inf, 1.9, 2.4, Inf), c("a", "b", "c"))
  for (solver in c("newton", "newton-cg", "lbfgs", "saga", "gradient", "accelerated")) {
    for (alpha in c(0, 0.01)) {
      fit <- function(...) sheaf_glm(x, y, solver = solver, alpha = alpha, tolerance = 1e-7, maxit = 1e4, ...)
      plain <- fit()
      far <- fit(start = coef(plain) + c(1, -1))
      expect_close(coef(far), coef(plain), 1e-4)
      near <- fit(start = coef(plain))
      expect_close(coef(near), coef(plain), 1e-4)
      expect_lte(near$iter, 2)
    }
  }
})

test_that("a start that does not fit is refused", {
  fit <- function(start, ...) sheaf_glm(counts ~ x, family = poisson, data = rows, start = start, ...)
  expect_names_argument(fit(c(0, 0, 0)), "start")
  expect_names_argument(fit("0"), "start")
  expect_names_argument(fit(c(0, Inf)), "start")
  expect_error(sheaf_glm(counts ~ x, family = poisson("identity"), data = rows, start = c(-1, 0)), "mean",
               class = "sheaf_error")
  expect_names_argument(sheaf_glm(as.matrix(rows["x"]), gl(3, 40), start = c(0, 0)), "start")
  expect_names_argument(sheaf_glm(counts ~ x, family = poisson, data = rows, etastart = rep(0, 120)), "etastart")
  expect_close(coef(fit(c(NA, 0))), coef(fit(NULL)))
})

test_that("theta has the standard error of glm.nb()", {
  skip_if_not_installed("MASS")
  found <- sheaf_glm(Days ~ Sex + Age, family = "negative.binomial", data = MASS::quine)
  expected <- MASS::glm.nb(Days ~ Sex + Age, MASS::quine, control = stats::glm.control(1e-12, 100))
  expect_close(c(found$theta, found$SE.theta), c(expected$theta, expected$SE.theta), 1e-5)
  expect_output(print(summary(found)), "Std. Err.")
  expect_null(sheaf_glm(Days ~ Sex, family = "negative.binomial", theta = 2, data = MASS::quine)$SE.theta)
})

test_that("probabilities of classes have standard errors by the delta method", {
  skip_if_not_installed("nnet")
  data <- iris[c(1:150, 1:20), ]
  data$Species[151:170] <- "virginica"
  found <- sheaf_glm(Species ~ Sepal.Width + Sepal.Length, data = data)
  new <- data[c(1, 60, 120), ]
  errors <- predict(found, new, type = "response", se.fit = TRUE)
  expect_close(errors$fit, predict(found, new, type = "response"))
  # Of the probabilities as functions of the coefficients, by finite differences.
  beta <- as.vector(coef(found))
  design <- cbind(1, as.matrix(new[c("Sepal.Width", "Sepal.Length")]))
  shares <- function(beta) {
    z <- cbind(0, design %*% t(matrix(beta, 2)))
    as.vector(exp(z) / rowSums(exp(z)))
  }
  slopes <- vapply(seq_along(beta), function(k) {
    h <- replace(0 * beta, k, 1e-5)
    (shares(beta + h) - shares(beta - h)) / 2e-5
  }, shares(beta))
  expect_close(errors$se.fit, sqrt(rowSums((slopes %*% vcov(found)) * slopes)), 1e-5)
  expect_close(predict(found, new, type = "link", se.fit = TRUE)$se.fit[, 2],
               sqrt(rowSums((design %*% vcov(found)[c(2, 4, 6), c(2, 4, 6)]) * design)))
  expect_names_argument(predict(found, new, se.fit = TRUE), "se.fit")
})
