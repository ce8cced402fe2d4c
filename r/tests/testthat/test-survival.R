skip_if_not_installed("survival")
Surv <- survival::Surv
lung <- stats::na.omit(survival::lung)
colon <- stats::na.omit(survival::colon[survival::colon$etype == 2, ])

test_that("sandwich standard errors are those of coxph(robust = TRUE)", {
  for (ties in c("efron", "breslow")) {
    found <- sheaf_glm(Surv(time, status) ~ age + sex + ph.ecog, data = lung, ties = ties, std_errors = "HC0")
    expected <- survival::coxph(Surv(time, status) ~ age + sex + ph.ecog, lung, ties = ties, robust = TRUE)
    expect_close(vcov(found), vcov(expected))
  }
  expect_error(sheaf_glm(Surv(time, status) ~ age, data = lung, solver = "saga"), "saga", class = "sheaf_error")
})

# Everything that users read of a coxph() object.
expect_like_coxph <- function(found, expected, tolerance = 1e-6) {
  expect_identical(names(coef(found)), names(coef(expected)))
  expect_close(coef(found), coef(expected), tolerance)
  columns <- c("coef", "exp(coef)", "se(coef)", "z", "Pr(>|z|)")
  theirs <- summary(expected)
  ours <- summary(found)
  expect_identical(colnames(coef(ours)), columns)
  expect_close(coef(ours), coef(theirs)[, columns], tolerance)
  expect_close(ours$conf.int, theirs$conf.int, tolerance)
  expect_identical(dimnames(ours$conf.int), dimnames(theirs$conf.int))
  for (test in c("logtest", "sctest", "waldtest")) {
    expect_close(ours[[test]][["test"]], theirs[[test]][["test"]], if (test == "waldtest") 0.01 else tolerance)
    expect_equal(ours[[test]][["df"]], theirs[[test]][["df"]])
  }
  expect_close(found$wald.test, expected$wald.test, tolerance)
  # Values that tie in exact arithmetic may differ in their last bit.
  expect_close(ours$concordance, theirs$concordance[1], 1e-3)
  expect_close(vcov(found), vcov(expected), tolerance)
  expect_close(confint(found), confint(expected), tolerance)
  expect_close(found$loglik, expected$loglik, tolerance)
  expect_close(logLik(found), logLik(expected), tolerance)
  expect_equal(attributes(logLik(found))[c("df", "nobs")], attributes(logLik(expected))[c("df", "nobs")])
  expect_close(AIC(found), AIC(expected), tolerance)
  expect_close(BIC(found), BIC(expected), tolerance)
  expect_equal(c(nobs(found), found$n), c(nobs(expected), expected$n))
  for (type in c("martingale", "deviance")) {
    expect_close(residuals(found, type), residuals(expected, type), tolerance)
    expect_identical(names(residuals(found, type)), names(residuals(expected, type)))
  }
}

test_that("Cox models are those of coxph, for both ties", {
  sets <- list(list(Surv(time, status) ~ age + factor(sex) + ph.ecog + wt.loss, lung),
               list(Surv(time, status) ~ trt + celltype + karno + diagtime + age + prior, survival::veteran),
               list(Surv(futime, fustat) ~ age + resid.ds + rx + ecog.ps, survival::ovarian),
               list(Surv(time, status) ~ rx + sex + age + obstruct + perfor + adhere + nodes + extent, colon))
  for (set in sets) {
    data <- set[[2]]
    data$w <- rep(c(1, 2, 0.5), length.out = nrow(data))
    data$known <- data$age / 100
    with_offset <- update(set[[1]], . ~ . + offset(known))
    for (ties in c("efron", "breslow")) {
      found <- sheaf_glm(set[[1]], data = data, family = "cox", ties = ties)
      expected <- survival::coxph(set[[1]], data, ties = ties)
      expect_like_coxph(found, expected)
      for (type in c("lp", "risk")) {
        expect_close(predict(found, type = type), predict(expected, type = type))
        expect_close(predict(found, data[5:9, ], type = type), predict(expected, data[5:9, ], type = type))
      }
      expect_close(predict(found, data[5:9, ], se.fit = TRUE)$se.fit,
                   predict(expected, data[5:9, ], se.fit = TRUE)$se.fit)
      expect_like_coxph(sheaf_glm(with_offset, data = data, weights = w, ties = ties, std_errors = "expected"),
                        survival::coxph(with_offset, data, weights = w, ties = ties, robust = FALSE))
      ours <- anova(found)
      theirs <- anova(expected)
      expect_identical(rownames(ours), rownames(theirs))
      expect_close(ours[c("loglik", "Chisq", "Df")], theirs[c("loglik", "Chisq", "Df")])
    }
  }
})

test_that("matrices, sparse ones and two columns are understood", {
  x <- as.matrix(lung[, c("age", "sex", "ph.ecog")])
  y <- Surv(lung$time, lung$status)
  expected <- survival::coxph(y ~ age + sex + ph.ecog, lung)
  found <- sheaf_glm(x, y)
  expect_s3_class(found, "sheaf_cox")
  expect_like_coxph(found, expected)
  expect_close(vcov(sheaf_glm(methods::as(x, "CsparseMatrix"), y)), vcov(expected))
  columns <- cbind(status = lung$status - 1, time = lung$time)
  expect_identical(coef(sheaf_glm(x, columns)), coef(found))
  expect_identical(coef(sheaf_glm(x, unname(columns[, 2:1]), family = "cox")), coef(found))
  expect_identical(coef(sheaf_glm(x, as.data.frame(columns), family = "cox")), coef(found))
  expect_close(predict(found, x, type = "link"), drop(x %*% coef(found)))
  expect_close(predict(found, type = "response"), exp(drop(x %*% coef(found))))
  expect_close(predict(found, se.fit = TRUE, type = "risk")$se.fit,
               predict(found, se.fit = TRUE)$se.fit * predict(found, type = "risk"))
})

test_that("formulas of Cox models follow na.action, and models can be updated", {
  data <- survival::lung
  for (action in c("na.omit", "na.exclude")) {
    found <- sheaf_glm(Surv(time, status) ~ age + ph.ecog, data = data, na.action = action)
    expected <- survival::coxph(Surv(time, status) ~ age + ph.ecog, data, na.action = action)
    expect_close(residuals(found), residuals(expected))
    expect_close(predict(found), predict(expected))
  }
  rest <- lung[c("time", "status", "age", "sex")]
  expect_identical(names(coef(sheaf_glm(Surv(time, status) ~ ., data = rest))), c("age", "sex"))
  smaller <- update(found, . ~ . - ph.ecog)
  expect_close(coef(smaller), coef(survival::coxph(Surv(time, status) ~ age, data)))
  expect_close(coef(sheaf_glm(Surv(time, status) ~ 0 + factor(sex), data = data)),
               coef(survival::coxph(Surv(time, status) ~ factor(sex), data)))
  known <- sheaf_glm(Surv(time, status) ~ age, data = data, subset = !is.na(ph.ecog))
  table <- anova(known, sheaf_glm(Surv(time, status) ~ age + ph.ecog, data = data))
  expect_identical(table$Df, c(NA, 1))
  expect_close(table$Chisq[2], 2 * (expected$loglik[2] - known$loglik[2]))
  empty <- sheaf_glm(Surv(time, status) ~ 1, data = data)
  expect_length(coef(empty), 0)
  expect_close(logLik(empty), logLik(survival::coxph(Surv(time, status) ~ 1, data)))
  expect_warning(twice <- sheaf_glm(Surv(time, status) ~ age + I(2 * age), data = data), "not determined")
  expect_identical(sum(is.na(coef(twice))), 1L)
  expect_close(max(twice$loglik), max(smaller$loglik))
  expect_output(print(empty), "No coefficients")
  expect_output(print(found), "exp\\(coef\\)")
  expect_output(print(summary(found)), "Score \\(logrank\\) test")
})

# Minus Breslow's log partial likelihood, by coxph().
breslow_loss <- function(lp, y) -survival::coxph(y ~ offset(lp), ties = "breslow")$loglik[1]

test_that("ridge-penalised Cox models are those of coxph, and no worse than those of glmnet", {
  x <- as.matrix(lung[, c("age", "sex", "ph.ecog", "wt.loss")])
  y <- Surv(lung$time, lung$status)
  for (ties in c("efron", "breslow")) {
    found <- sheaf_glm(x, y, alpha = 0.1, ties = ties)
    expected <- survival::coxph(y ~ survival::ridge(x, theta = 0.1 * nrow(x), scale = FALSE), ties = ties)
    expect_close(coef(found), coef(expected))
  }
  expected <- glmnet::glmnet(x, y, "cox", alpha = 0, lambda = c(1, 0.1), standardize = FALSE, thresh = 1e-14)
  objective <- function(beta) breslow_loss(drop(x %*% beta), y) / nrow(x) + 0.05 * sum(beta^2)
  expect_lte(objective(coef(found)), objective(coef(expected)[, 2]) * (1 + 1e-12))
  expect_error(summary(found), "penalised")
  expect_error(vcov(found), "penalised")
  expect_output(print(found), "penalty alpha = 0.1")
  expect_false("statistic.log" %in% names(glance(found)))
})

test_that("tables of Cox models are those of broom", {
  skip_if_not_installed("broom")
  found <- sheaf_glm(Surv(time, status) ~ age + sex, data = lung)
  expected <- survival::coxph(Surv(time, status) ~ age + sex, lung)
  for (raised in c(FALSE, TRUE)) {
    ours <- tidy(found, conf.int = TRUE, exponentiate = raised)
    theirs <- as.data.frame(broom::tidy(expected, conf.int = TRUE, exponentiate = raised))
    expect_identical(names(ours), names(theirs))
    expect_close(ours[-1], theirs[-1])
  }
  ours <- glance(found)
  # summary(coxph()) rounds the statistic of Wald's test.
  exact <- setdiff(names(ours), c("statistic.wald", "p.value.wald", "concordance"))
  expect_close(ours[exact], broom::glance(expected)[exact])
  rows <- augment(found, lung)
  expect_close(rows$.fitted, predict(expected))
  expect_close(rows$.resid, residuals(expected))
  expect_close(augment(found, newdata = lung[1:3, ], type.predict = "risk")$.fitted,
               predict(expected, lung[1:3, ], "risk"))
})

x <- as.matrix(lung[, c("age", "sex", "ph.ecog", "ph.karno", "pat.karno", "meal.cal", "wt.loss")])
# glmnet's models depend on the order of rows where times tie, so that times are made to differ.
apart <- Surv(lung$time + seq_len(nrow(lung)) / 1e4, lung$status)

test_that("paths of Cox models are those of glmnet", {
  w <- rep(1:3, length.out = nrow(x))
  known <- lung$wt.loss / 50
  for (alpha in c(1, 0.5)) {
    found <- sheaf_net(x, apart, "cox", alpha = alpha, thresh = 1e-11)
    expected <- glmnet::glmnet(x, apart, "cox", alpha = alpha, thresh = 1e-14)
    expect_identical(length(found$lambda), length(expected$lambda))
    expect_close(found$lambda, expected$lambda)
    expect_close(found$beta, expected$beta, 1e-5)
    expect_identical(dimnames(found$beta), dimnames(expected$beta))
    expect_close(found$dev.ratio, expected$dev.ratio, 1e-5)
    expect_close(found$nulldev, expected$nulldev)
    expect_identical(found$df, expected$df)
    expect_true(all(names(expected) %in% names(found)))
    found <- sheaf_net(x, apart, "cox", alpha = alpha, weights = w, offset = known, thresh = 1e-11)
    expected <- glmnet::glmnet(x, apart, "cox", alpha = alpha, weights = w, offset = known, thresh = 1e-14)
    expect_close(found$lambda, expected$lambda)
    expect_close(found$beta, expected$beta, 1e-5)
    expect_close(found$nulldev, expected$nulldev)
    for (type in c("link", "response")) {
      expect_close(predict(found, x, s = c(0.05, 0.01), type = type, newoffset = known),
                   predict(expected, x, s = c(0.05, 0.01), type = type, newoffset = known), 1e-5)
    }
    expect_names_argument(predict(found, x), "newoffset")
  }
  factors <- c(0, 1, 1, 2, 1, 1, 1)
  found <- sheaf_net(x, apart, "cox", penalty.factor = factors, thresh = 1e-11)
  expected <- glmnet::glmnet(x, apart, "cox", penalty.factor = factors, thresh = 1e-14)
  expect_close(found$lambda[1], expected$lambda[1], 1e-4)
  expect_close(coef(found, s = 0.05), coef(expected, s = 0.05), 1e-4)
  expect_identical(rownames(coef(found)), colnames(x))
  expect_identical(unname(predict(found, s = 0.05, type = "nonzero")),
                   unname(predict(expected, s = 0.05, type = "nonzero")))
  expect_names_argument(predict(found, x, type = "class"), "type")
  columns <- cbind(time = apart[, 1], status = apart[, 2])
  expect_identical(coef(sheaf_net(x, columns, "cox", lambda = 0.1)), coef(sheaf_net(x, apart, "cox", lambda = 0.1)))
})

test_that("objectives of tied times are at most those of glmnet", {
  y <- Surv(ceiling(lung$time / 50), lung$status)
  for (alpha in c(1, 0.3)) {
    lambda <- c(0.1, 0.03, 0.01)
    found <- sheaf_net(x, y, "cox", alpha = alpha, lambda = lambda, standardize = FALSE, thresh = 1e-11)
    expected <- glmnet::glmnet(x, y, "cox", alpha = alpha, lambda = lambda, standardize = FALSE, thresh = 1e-14)
    objective <- function(fit, k) {
      beta <- as.matrix(fit$beta)[, k]
      breslow_loss(drop(x %*% beta), y) / nrow(x) +
        lambda[k] * (alpha * sum(abs(beta)) + (1 - alpha) / 2 * sum(beta^2))
    }
    for (k in seq_along(lambda)) expect_lte(objective(found, k), objective(expected, k) * (1 + 1e-9))
  }
})

test_that("cross-validation of Cox models is that of cv.glmnet", {
  lambda <- c(0.1, 0.05, 0.02)
  folds <- rep(1:5, length.out = nrow(x))
  for (measure in c("deviance", "C")) {
    for (grouped in c(TRUE, FALSE)) {
      found <- cv_sheaf_net(x, apart, family = "cox", foldid = folds, type.measure = measure, grouped = grouped,
                            lambda = lambda, thresh = 1e-11, keep = TRUE)
      expected <- glmnet::cv.glmnet(x, apart, family = "cox", foldid = folds, type.measure = measure, grouped = grouped,
                                    lambda = lambda, thresh = 1e-14, keep = TRUE)
      expect_close(found$cvm, expected$cvm)
      expect_close(found$cvsd, expected$cvsd, 1e-5)
      expect_identical(found$name, expected$name)
      expect_identical(found$nzero, expected$nzero)
      expect_equal(found$index, expected$index)
      expect_close(found$fit.preval, expected$fit.preval, 1e-5)
      expect_true(all(names(expected) %in% names(found)))
    }
  }
  # Concordances count weights as glmnet does; deviances do not depend on the scale of weights.
  w <- rep(1:3, length.out = nrow(x))
  weighted <- function(w, measure) {
    cv_sheaf_net(x, apart, family = "cox", foldid = folds, type.measure = measure, weights = w, lambda = lambda)
  }
  expect_close(weighted(w, "C")$cvm,
               glmnet::cv.glmnet(x, apart, family = "cox", foldid = folds, type.measure = "C", weights = w,
                                 lambda = lambda, thresh = 1e-14)$cvm, 1e-3)
  expect_close(weighted(w, "deviance")$cvm, weighted(8 * w, "deviance")$cvm)
  expect_warning(cv_sheaf_net(x, apart, family = "cox", nfolds = 20, grouped = FALSE, lambda = lambda),
                 "grouped = TRUE")
  expect_names_argument(cv_sheaf_net(x, apart, family = "cox", type.measure = "mse"), "type.measure")
  expect_names_argument(cv_sheaf_net(x, lung$time, type.measure = "C"), "type.measure")
  expect_output(print(found), "C-index")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(found))
  expect_silent(plot(found$glmnet.fit))
})

test_that("a fold without events does not count", {
  folds <- ifelse(lung$status == 1, 4, rep(1:3, length.out = nrow(x)))
  found <- cv_sheaf_net(x, apart, family = "cox", foldid = folds, lambda = c(0.1, 0.01))
  expect_true(all(is.finite(c(found$cvm, found$cvsd))))
})

test_that("searches and studies take survival", {
  found <- sheaf_search(Surv(time, status) ~ age + sex + ph.ecog, data = survival::lung, model = "glm",
                        grid = list(alpha = c(0.01, 0.1, 1)), predictions = TRUE, folds = 5, seed = 1,
                        prepare = list(impute = "none"))
  expect_identical(found$score, "partial_likelihood_deviance")
  expect_named(found$predictions, c("split", "row", "time", "status", "predicted"))
  expect_identical(rownames(coef(found)), c("age", "sex", "ph.ecog"))
  rows <- stats::na.omit(survival::lung[c("time", "status", "age", "sex", "ph.ecog")])
  expect_identical(found$predictions$time, as.double(rows$time)[found$predictions$row])
  chosen <- sheaf_glm(Surv(time, status) ~ age + sex + ph.ecog, data = rows, alpha = found$best$alpha)
  expect_close(coef(found), coef(chosen), 1e-4)
  expect_close(predict(found, rows), predict(chosen, type = "link"), 1e-4)
  by_pairs <- sheaf_search(x, apart, model = "elastic-net", score = "concordance", standardise = TRUE, seed = 1)
  expect_gt(by_pairs$best_score, 0.5)
  study <- sheaf_study(x, apart, resamples = 5, folds = 3, seed = 1)
  expect_true("ph.ecog" %in% study$features$feature)
})

test_that("responses that are no survival are refused", {
  y <- Surv(lung$time, lung$status)
  expect_names_argument(sheaf_glm(x, lung$time, family = "cox"), "y")
  expect_names_argument(sheaf_glm(x, Surv(lung$time, lung$time + 1, type = "interval2")), "y")
  expect_names_argument(sheaf_glm(x, Surv(lung$time, 0 * lung$time)), "y")
  expect_names_argument(sheaf_glm(x, cbind(time = -1, status = lung$status - 1)), "y")
  expect_names_argument(sheaf_glm(x, cbind(time = lung$time, status = lung$status)), "y")
  expect_names_argument(sheaf_glm(x, replace(y, 3, NA)), "y")
  expect_names_argument(sheaf_glm(x, y[-1, ]), "y")
  expect_names_argument(sheaf_glm(x, data.frame(lung$time, lung$age), family = "gaussian"), "y")
  expect_names_argument(sheaf_glm(x, y, weights = 2 - lung$status), "weights")
  expect_names_argument(sheaf_net(x, y, "cox", weights = 2 - lung$status), "weights")
  expect_names_argument(sheaf_glm(x, y, ties = "exact"), "ties")
  expect_names_argument(sheaf_glm(Surv(time, status) ~ survival::pspline(age), data = lung), "formula")
  fit <- sheaf_glm(x, y)
  expect_names_argument(simulate(fit), "object")
  expect_names_argument(predict(fit, type = "class"), "type")
  expect_names_argument(residuals(fit, "pearson"), "type")
  expect_names_argument(anova(fit, sheaf_glm(mpg ~ wt, data = mtcars)), "...")
  expect_error(anova(fit), "formula")
})

test_that("times that differ by rounding tie, as in coxph()", {
  skip_if_not_installed("survival")
  rows <- survival::lung[!is.na(survival::lung$age), ]
  rows$time <- round(rows$time / 30) / 10
  rows$time[seq(1, nrow(rows), 2)] <- rows$time[seq(1, nrow(rows), 2)] + 1e-10
  theirs <- survival::coxph(survival::Surv(time, status) ~ age + sex, data = rows)
  ours <- sheaf_glm(survival::Surv(time, status) ~ age + sex, data = rows)
  expect_close(coef(ours), coef(theirs))
  expect_close(logLik(ours), logLik(theirs))
  expect_close(residuals(ours), residuals(theirs))
})

test_that("fractional weights have robust standard errors, as in coxph()", {
  skip_if_not_installed("survival")
  rows <- survival::lung
  rows$w <- seq(0.5, 2, length.out = nrow(rows))
  formula <- survival::Surv(time, status) ~ age + sex
  expect_close(vcov(sheaf_glm(formula, data = rows, weights = w)),
               vcov(survival::coxph(formula, data = rows, weights = w)))
  expect_close(vcov(sheaf_glm(formula, data = rows, weights = w, std_errors = "expected")),
               vcov(survival::coxph(formula, data = rows, weights = w, robust = FALSE)))
})
