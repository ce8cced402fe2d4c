# Everything that users read of a glm() object.
expect_like_glm <- function(found, expected, tolerance = 1e-6) {
  expect_identical(names(coef(found)), names(coef(expected)))
  expect_close(coef(found), coef(expected), tolerance)
  expect_close(coef(summary(found)), coef(summary(expected)), tolerance)
  expect_identical(dimnames(coef(summary(found))), dimnames(coef(summary(expected))))
  expect_close(vcov(found), vcov(expected), tolerance)
  expect_close(deviance(found), deviance(expected), tolerance)
  expect_close(found$null.deviance, expected$null.deviance, tolerance)
  expect_close(AIC(found), AIC(expected), tolerance)
  expect_close(BIC(found), BIC(expected), tolerance)
  expect_close(logLik(found), logLik(expected), tolerance)
  expect_equal(attr(logLik(found), "df"), attr(logLik(expected), "df"))
  expect_equal(c(nobs(found), df.residual(found), found$df.null),
               c(nobs(expected), df.residual(expected), expected$df.null))
  expect_close(fitted(found), fitted(expected), tolerance)
  for (type in c("deviance", "pearson", "working", "response")) {
    expect_close(residuals(found, type), residuals(expected, type), tolerance)
  }
  tails <- c(0.025, 0.975)
  estimated <- summary(expected)$dispersion != 1
  reach <- if (estimated) stats::qt(tails, df.residual(expected)) else stats::qnorm(tails)
  expect_close(confint(found), coef(expected) + sqrt(diag(vcov(expected))) %o% reach, tolerance)
  for (type in c("link", "response")) {
    ours <- predict(found, type = type, se.fit = TRUE)
    theirs <- predict(expected, type = type, se.fit = TRUE)
    expect_close(ours$fit, theirs$fit, tolerance)
    expect_close(ours$se.fit, theirs$se.fit, tolerance)
  }
}

both <- function(formula, data, family, ...) {
  expect_like_glm(sheaf_glm(formula, data = data, family = family, ...),
                  glm(formula, data = data, family = family, control = exact, ...))
}

test_that("gaussian models are those of glm", {
  both(mpg ~ wt + hp + factor(cyl), mtcars, gaussian)
  expect_like_glm(sheaf_glm(mpg ~ wt * am, data = mtcars, weights = carb),
                  glm(mpg ~ wt * am, data = mtcars, weights = carb))
  both(mpg ~ 0 + wt + factor(cyl), mtcars, gaussian)
})

test_that("binomial models are those of glm, for all links", {
  for (link in c("logit", "probit", "cloglog")) {
    both(case ~ age + parity + education + spontaneous, infert, binomial(link))
  }
  both(type ~ npreg + glu + bmi + ped + age, MASS::Pima.tr, binomial)
  both(low ~ age + lwt + factor(race) + smoke, MASS::birthwt, binomial)
})

test_that("counts of successes and shares are those of glm", {
  grouped <- transform(esoph, age = as.numeric(agegp), alcohol = as.numeric(alcgp))
  both(cbind(ncases, ncontrols) ~ age + alcohol, grouped, binomial)
  shares <- transform(grouped, all = ncases + ncontrols, share = ncases / (ncases + ncontrols))
  expect_like_glm(sheaf_glm(share ~ age, data = shares, family = binomial, weights = all),
                  glm(share ~ age, data = shares, family = binomial, weights = all, control = exact))
})

test_that("models of counts and positive numbers are those of glm", {
  both(breaks ~ wool * tension, warpbreaks, poisson)
  both(count ~ spray, InsectSprays, poisson)
  both(Claims ~ District + as.numeric(Group) + offset(log(Holders)), MASS::Insurance, poisson)
  both(mpg ~ wt + hp, mtcars, Gamma)
  both(mpg ~ wt + hp, mtcars, Gamma("log"))
  both(mpg ~ wt, mtcars, inverse.gaussian)
  both(dist ~ speed, cars, Gamma("log"))
})

test_that("negative binomial models are those of MASS", {
  formulas <- list(Days ~ Sex + Age + Lrn, Days ~ Eth * Sex)
  for (formula in formulas) {
    found <- sheaf_glm(formula, data = MASS::quine, family = "negative.binomial")
    expected <- MASS::glm.nb(formula, data = MASS::quine, control = exact)
    expect_close(found$theta, expected$theta)
    expect_close(coef(summary(found)), coef(summary(expected)))
    expect_close(c(AIC(found), deviance(found), logLik(found)), c(AIC(expected), deviance(expected), logLik(expected)))
    given <- sheaf_glm(formula, data = MASS::quine, family = MASS::negative.binomial(2))
    expect_close(coef(given), coef(glm(formula, MASS::negative.binomial(2), MASS::quine, control = exact)))
  }
})

test_that("a tweedie model solves its score equations", {
  rain <- transform(airquality[!is.na(airquality$Ozone), ], Ozone = pmax(Ozone - 20, 0))
  fit <- sheaf_glm(Ozone ~ Temp + Wind, data = rain, family = "tweedie", power = 1.6)
  x <- cbind(1, rain$Temp, rain$Wind)
  score <- crossprod(x, (rain$Ozone - fitted(fit)) * fitted(fit)^(1 - 1.6))
  expect_lt(max(abs(score) / colSums(abs(x))), 1e-6)
  expect_true(is.na(AIC(fit)))
})

test_that("multinomial models are those of nnet", {
  sets <- list(list(cut(bwt, c(0, 2500, 3200, 6000)) ~ age + lwt + smoke + ht, MASS::birthwt),
               list(Sat ~ Infl + Type + Cont, MASS::housing), list(Type ~ Price + MPG.city, MASS::Cars93))
  for (set in sets) {
    w <- if ("Freq" %in% names(set[[2]])) set[[2]]$Freq else rep(1, nrow(set[[2]]))
    data <- cbind(set[[2]], w = w)
    found <- sheaf_glm(set[[1]], data = data, weights = w, family = "multinomial")
    expected <- nnet::multinom(set[[1]], data, weights = w, trace = FALSE, maxit = 5000, reltol = 1e-15, abstol = 1e-15,
                               Hess = TRUE)
    expect_close(deviance(found), deviance(expected), 1e-7)
    expect_close(AIC(found), AIC(expected), 1e-7)
    expect_close(predict(found, data, type = "response"), predict(expected, data, type = "probs"), 1e-3)
    expect_identical(predict(found, data, type = "probs"), predict(found, data, type = "response"))
    expect_identical(dimnames(coef(found)), dimnames(coef(expected)))
    expect_identical(levels(predict(found, data)), levels(data[[all.vars(set[[1]])[1]]]) %||% found$lev)
    expect_close(sqrt(diag(vcov(found))), as.vector(found$std.error), 1e-6)
  }
  expect_close(coef(sheaf_glm(sets[[2]][[1]], data = MASS::housing, weights = Freq)),
               coef(nnet::multinom(Sat ~ Infl + Type + Cont, MASS::housing, weights = Freq, trace = FALSE, maxit = 5000,
                                   reltol = 1e-15)), 1e-4)
})

test_that("sandwich standard errors are those of package sandwich", {
  skip_if_not_installed("sandwich")
  sets <- list(list(mpg ~ wt + factor(cyl), gaussian(), mtcars),
               list(type ~ glu + bmi + age, binomial(), MASS::Pima.tr),
               list(type ~ glu + bmi, binomial("probit"), MASS::Pima.tr),
               list(Days ~ Eth + Sex + Age, poisson(), MASS::quine))
  for (set in sets) {
    expected <- glm(set[[1]], set[[2]], set[[3]], control = exact)
    for (type in c("HC0", "HC1")) {
      found <- sheaf_glm(set[[1]], data = set[[3]], family = set[[2]], std_errors = type)
      theirs <- sandwich::vcovHC(expected, type = type)
      expect_identical(dimnames(vcov(found)), dimnames(theirs))
      expect_close(vcov(found), theirs)
      expect_close(coef(summary(found))[, "Std. Error"], sqrt(diag(theirs)))
      expect_close(hatvalues(found), hatvalues(expected))
    }
  }
})

test_that("sandwich standard errors of several classes follow their formula", {
  x <- as.matrix(MASS::birthwt[, c("age", "lwt", "smoke")])
  y <- cut(MASS::birthwt$bwt, c(0, 2500, 3200, 6000), c("low", "middle", "high"))
  plain <- sheaf_glm(x, y)
  found <- sheaf_glm(x, y, std_errors = "HC0")
  expect_equal(coef(found), coef(plain))
  # Scores of a row: residuals of the classes but the first times its features, classes running faster.
  scores <- t(vapply(seq_along(y), function(i) as.vector(outer(residuals(plain)[i, -1], c(1, x[i, ]))), numeric(8)))
  expected <- vcov(plain) %*% crossprod(scores) %*% vcov(plain)
  expect_close(vcov(found), expected)
  expect_close(as.vector(found$std.error), sqrt(diag(expected)))
})

test_that("standard errors that cannot be had are refused", {
  shares <- cbind(esoph$ncases, esoph$ncontrols)
  expect_names_argument(sheaf_glm(shares ~ agegp, data = esoph, family = binomial, std_errors = "HC0"), "std_errors")
  expect_names_argument(sheaf_glm(mpg ~ wt, data = mtcars, std_errors = "HC3"), "std_errors")
})

test_that("collinear columns are NA, as in glm", {
  data <- transform(mtcars, double = 2 * wt, one = 1)
  expect_warning(found <- sheaf_glm(mpg ~ wt + double + hp + one, data = data), "not determined")
  expected <- glm(mpg ~ wt + double + hp + one, data = data)
  expect_close(coef(found), coef(expected))
  expect_close(predict(found, data[1:5, ]), suppressWarnings(predict(expected, data[1:5, ])))
  expect_equal(df.residual(found), df.residual(expected))
  expect_close(vcov(found), vcov(expected))
})

test_that("classes that features separate are warned of", {
  expect_warning(sheaf_glm(Species == "setosa" ~ Petal.Length, data = iris, family = binomial), "separated")
})

test_that("penalised models minimise what the page says", {
  x <- scale(as.matrix(mtcars[, c("wt", "hp", "qsec")]))
  fit <- sheaf_glm(x, mtcars$carb, family = "poisson", alpha = 0.1)
  gradient <- crossprod(x, fitted(fit) - mtcars$carb) / nrow(x) + 0.1 * coef(fit)[-1]
  expect_lt(max(abs(gradient)), 1e-6)
  expect_lt(abs(sum(fitted(fit) - mtcars$carb)), 1e-5)
  expect_error(summary(fit), "no standard errors", class = "sheaf_error")
  expect_error(vcov(fit), class = "sheaf_error")
})

test_that("matrices, sparse matrices and data frames give the models of formulas", {
  x <- as.matrix(mtcars[, c("wt", "hp")])
  expected <- coef(sheaf_glm(mpg ~ wt + hp, data = mtcars))
  expect_equal(coef(sheaf_glm(x, mtcars$mpg)), expected)
  expect_equal(coef(sheaf_glm(as.data.frame(x), mtcars$mpg)), expected)
  expect_equal(coef(sheaf_glm(as(x, "CsparseMatrix"), mtcars$mpg)), expected)
  fit <- sheaf_glm(x, mtcars$mpg)
  expect_equal(unname(predict(fit, x[, 2:1])), unname(fitted(fit)))
  expect_close(vcov(sheaf_glm(as(x, "CsparseMatrix"), mtcars$mpg)), vcov(fit))
})

test_that("quasi families have glm()'s errors and tests", {
  check <- function(formula, family, data) {
    fit <- sheaf_glm(formula, data = data, family = family, tolerance = 1e-10)
    expected <- glm(formula, data = data, family = family, control = glm.control(epsilon = 1e-14))
    expect_close(coef(fit), coef(expected))
    expect_close(vcov(fit), vcov(expected))
    expect_close(coef(summary(fit)), coef(summary(expected)))
    expect_close(summary(fit)$dispersion, summary(expected)$dispersion)
    expect_close(residuals(fit, "pearson"), residuals(expected, "pearson"))
    expect_true(is.na(AIC(fit)))
  }
  check(breaks ~ wool + tension, quasipoisson(), warpbreaks)
  check(cbind(ncases, ncontrols) ~ unclass(agegp), quasibinomial(), esoph)
  check(type ~ glu + bmi, quasibinomial("probit"), MASS::Pima.tr)
})

test_that("counts of classes are multinom()'s", {
  counts <- with(MASS::housing, xtabs(Freq ~ paste(Infl, Type) + Sat))
  cells <- data.frame(infl = sub(" .*", "", rownames(counts)), type = sub(".* ", "", rownames(counts)))
  counts <- matrix(counts, nrow(counts), dimnames = list(NULL, colnames(counts)))
  weights <- rep(1:2, length.out = nrow(counts))
  fit <- sheaf_glm(counts ~ infl + type, data = cells, weights = weights, tolerance = 1e-10)
  expected <- nnet::multinom(counts ~ infl + type, data = cells, weights = weights, trace = FALSE, reltol = 1e-14,
                             maxit = 1000)
  expect_close(coef(fit), coef(expected), 1e-4)
  expect_close(deviance(fit), deviance(expected), 1e-8)
  expect_close(fitted(fit), fitted(expected), 1e-4)
  expect_close(residuals(fit), residuals(expected), 1e-4)
  expect_equal(levels(predict(fit, cells, type = "class")), colnames(counts))
  expect_error(sheaf_glm(cbind(counts, none = 0) ~ infl, data = cells), "none", class = "sheaf_error")
  expect_error(sheaf_glm(-counts ~ infl, data = cells), "counts", class = "sheaf_error")
})

test_that("solvers agree", {
  fits <- lapply(c("newton", "newton-cg", "lbfgs", "saga", "gradient", "accelerated"), function(solver) {
    coef(sheaf_glm(type ~ glu + bmi + age, data = MASS::Pima.tr, solver = solver, tolerance = 1e-10))
  })
  for (fit in fits[-1]) expect_close(fit, fits[[1]], 1e-5)
})

test_that("offsets count in predictions", {
  data <- MASS::Insurance
  inside <- sheaf_glm(Claims ~ District + offset(log(Holders)), data = data, family = poisson)
  beside <- sheaf_glm(Claims ~ District, offset = log(Holders), data = data, family = poisson)
  expected <- glm(Claims ~ District + offset(log(Holders)), data = data, family = poisson)
  expect_close(predict(inside, data[1:7, ]), predict(expected, data[1:7, ]))
  expect_close(predict(beside, data[1:7, ]), predict(expected, data[1:7, ]))
  x <- cbind(group = as.numeric(data$Group))
  matrix <- sheaf_glm(x, data$Claims, family = poisson, offset = log(data$Holders))
  expect_names_argument(predict(matrix, x), "newoffset")
  expect_close(predict(matrix, x, newoffset = log(data$Holders)), matrix$linear.predictors)
})

test_that("missing values follow na.action", {
  found <- sheaf_glm(Ozone ~ Wind, data = airquality, na.action = na.exclude)
  expected <- glm(Ozone ~ Wind, data = airquality, na.action = na.exclude)
  expect_close(residuals(found), residuals(expected))
  expect_length(fitted(found), nrow(airquality))
  expect_error(sheaf_glm(Ozone ~ Wind, data = airquality, na.action = na.fail))
})

test_that("anova and update are those of glm", {
  found <- sheaf_glm(case ~ age + parity + education, data = infert, family = binomial)
  expected <- glm(case ~ age + parity + education, data = infert, family = binomial, control = exact)
  expect_close(as.matrix(anova(found, test = "Chisq")), as.matrix(anova(expected, test = "Chisq")))
  smaller <- update(found, . ~ . - parity)
  expect_close(coef(smaller), coef(update(expected, . ~ . - parity)))
  expect_close(as.matrix(anova(smaller, found, test = "Chisq")),
               as.matrix(anova(update(expected, . ~ . - parity), expected, test = "Chisq")))
  gaussian <- sheaf_glm(mpg ~ wt + hp, data = mtcars)
  expect_close(as.matrix(anova(gaussian, test = "F")), as.matrix(anova(glm(mpg ~ wt + hp, data = mtcars), test = "F")))
})

test_that("classes come back with the levels they had", {
  y <- factor(mtcars$am, levels = c(1, 0), labels = c("manual", "automatic"))
  fit <- sheaf_glm(cbind(wt = mtcars$wt), y)
  expect_close(coef(fit), coef(glm(y ~ wt, binomial, mtcars, control = exact)))
  expect_identical(levels(predict(fit, type = "class")), levels(y))
  expect_gt(mean(predict(fit, type = "class") == y), 0.8)
  three <- sheaf_glm(as.matrix(iris[, 1:2]), factor(iris$Species, levels = c(rev(levels(iris$Species)), "none")),
                     alpha = 0.01)
  expect_identical(levels(predict(three)), c(rev(levels(iris$Species)), "none"))
})

test_that("results do not depend on the number of threads", {
  fits <- lapply(1:2, function(threads) {
    coef(sheaf_glm(Species ~ ., data = iris, alpha = 0.01, control = list(threads = threads)))
  })
  expect_identical(fits[[1]], fits[[2]])
})

test_that("models survive a session", {
  fit <- sheaf_glm(am ~ wt, data = mtcars, family = binomial)
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), mtcars), predict(fit, mtcars))
})

test_that("printing says what glm says", {
  fit <- sheaf_glm(am ~ wt, data = mtcars, family = binomial)
  expect_output(print(fit), "Residual Deviance")
  expect_output(print(summary(fit)), "Dispersion parameter for binomial")
  expect_output(print(summary(sheaf_glm(Days ~ Sex, data = MASS::quine, family = "negative.binomial"))), "Theta")
  expect_identical(family(fit)$link, "logit")
  expect_identical(formula(fit), am ~ wt, ignore_attr = TRUE)
})

test_that("models without features, of functions of features and of some rows are those of glm", {
  both(mpg ~ 1, mtcars, gaussian)
  both(am ~ 1, mtcars, binomial)
  found <- sheaf_glm(mpg ~ poly(wt, 2) + log(hp), data = mtcars, subset = cyl > 4)
  expected <- glm(mpg ~ poly(wt, 2) + log(hp), data = mtcars, subset = cyl > 4)
  expect_like_glm(found, expected)
  expect_close(predict(found, mtcars[1:9, ]), predict(expected, mtcars[1:9, ]))
  expect_close(coef(sheaf_glm(Species ~ 1, data = iris[-(1:20), ])), log(50 / 30) * c(1, 1))
})

test_that("tests of negative binomial models keep theta, as those of MASS", {
  found <- anova(sheaf_glm(Days ~ Sex + Age, data = MASS::quine, family = "negative.binomial"), test = "Chisq")
  expected <- suppressWarnings(anova(MASS::glm.nb(Days ~ Sex + Age, data = MASS::quine, control = exact),
                                     test = "Chisq"))
  expect_close(as.matrix(found), as.matrix(expected))
})

test_that("AIC and BIC of successes and failures with weights are those of glm()", {
  rows <- data.frame(s = c(3, 5, 8, 2, 9, 4), f = c(7, 5, 2, 8, 1, 6), z = c(1, 2, 3, 1.5, 4, 2),
                     w = c(2, 2, 1, 3, 2, 1))
  ours <- sheaf_glm(cbind(s, f) ~ z, family = binomial, weights = w, data = rows)
  theirs <- stats::glm(cbind(s, f) ~ z, family = binomial, weights = w, data = rows, control = exact)
  expect_close(c(AIC(ours), BIC(ours), logLik(ours)), c(AIC(theirs), BIC(theirs), logLik(theirs)))
})

test_that("penalised models count effective parameters", {
  # The trace of (X'WX + P)^-1 X'WX, with P = rows * alpha for all but the intercept.
  trace <- function(x, w, penalty, free = 1) {
    information <- crossprod(x, w * x)
    sum(diag(solve(information + diag(c(rep(0, free), rep(penalty, ncol(x) - free))), information)))
  }
  x <- stats::model.matrix(mpg ~ wt + hp + qsec, mtcars)
  fit <- sheaf_glm(mpg ~ wt + hp + qsec, data = mtcars, alpha = 0.3)
  freedom <- trace(x, rep(1, 32), 32 * 0.3)
  expect_close(df.residual(fit), 32 - freedom)
  residual <- mtcars$mpg - fitted(fit)
  expect_close(fit$dispersion, sum(residual^2) / (32 - freedom))
  expect_equal(attr(logLik(fit), "df"), freedom + 1)
  likelihood <- sum(stats::dnorm(residual, 0, sqrt(mean(residual^2)), log = TRUE))
  expect_close(c(AIC(fit), BIC(fit)), c(2, log(32)) * (freedom + 1) - 2 * likelihood)
  x <- stats::model.matrix(am ~ wt + hp, mtcars)
  fit <- sheaf_glm(am ~ wt + hp, data = mtcars, family = binomial, alpha = 0.05)
  freedom <- trace(x, fitted(fit) * (1 - fitted(fit)), 32 * 0.05)
  expect_close(AIC(fit), 2 * freedom - 2 * sum(stats::dbinom(mtcars$am, 1, fitted(fit), log = TRUE)))
  wide <- sheaf_glm(matrix(sin(seq_len(1600 * 5)), 5), 1:5, alpha = 1)
  expect_identical(c(AIC(wide), df.residual(wide)), c(NA_real_, NA_real_))
  # As the penalty vanishes they are all.
  expect_lt(abs(sheaf_glm(am ~ wt + hp, data = mtcars, family = binomial, alpha = 1e-9)$edf - 3), 1e-3)
  skip_if_not_installed("survival")
  lung <- stats::na.omit(survival::lung[c("time", "status", "age", "sex")])
  y <- survival::Surv(lung$time, lung$status)
  x <- as.matrix(lung[c("age", "sex")])
  fit <- sheaf_glm(x, y, alpha = 0.1)
  at <- survival::coxph(y ~ x, init = coef(fit), control = survival::coxph.control(iter.max = 0))
  information <- solve(stats::vcov(at))
  freedom <- sum(diag(solve(information + diag(nrow(x) * 0.1, 2), information)))
  expect_close(fit$edf, freedom)
  expect_close(AIC(fit), 2 * freedom - 2 * at$loglik[1])
})

test_that("weights of separated classes have no standard errors, whatever the reference level", {
  two <- droplevels(iris[iris$Species != "setosa", ])
  theirs <- summary(stats::glm(Species ~ ., data = two, family = binomial, control = exact))$coefficients[, 1:2]
  for (reference in levels(iris$Species)) {
    iris$Species <- stats::relevel(iris$Species, reference)
    fit <- suppressWarnings(sheaf_glm(Species ~ ., data = iris))
    expect_true(fit$separated)
    expect_equal(fit$rank, 10)
    expect_close(AIC(fit), 20 + 11.89855, 1e-5)
    determined <- switch(reference, setosa = character(), versicolor = "virginica", "versicolor")
    expect_true(all(is.na(fit$std.error[setdiff(rownames(coef(fit)), determined), ])))
    if (length(determined) == 0) next
    expect_close(fit$std.error[determined, ], theirs[, 2], 1e-4)
    expect_close(abs(coef(fit)[determined, ]), abs(theirs[, 1]), 1e-4)
  }
})

test_that("rows that were left out are mentioned", {
  fit <- sheaf_glm(Ozone ~ Wind + Solar.R, data = airquality)
  said <- "(42 observations deleted due to missingness)"
  expect_output(print(fit), said, fixed = TRUE)
  expect_output(print(summary(fit)), said, fixed = TRUE)
})

test_that("intervals are Student's where the dispersion is estimated", {
  fit <- sheaf_glm(mpg ~ wt + hp, data = mtcars)
  expect_close(confint(fit), confint(stats::lm(mpg ~ wt + hp, data = mtcars)))
  expect_close(confint(fit, "wt", 0.9), confint(stats::lm(mpg ~ wt + hp, data = mtcars), "wt", 0.9))
  theirs <- stats::glm(am ~ wt, data = mtcars, family = binomial, control = exact)
  expect_close(confint(sheaf_glm(am ~ wt, data = mtcars, family = binomial)), stats::confint.default(theirs))
})
