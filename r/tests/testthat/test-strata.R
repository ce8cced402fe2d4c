skip_if_not_installed("survival")
Surv <- survival::Surv
strata <- survival::strata  # coxph() finds them by these names
cluster <- survival::cluster
lung <- stats::na.omit(survival::lung)
lung$institute <- lung$inst %% 4
# Rows of one patient each up to another treatment, so that most enter late.
heart <- transform(survival::heart, years = year + 1, age = age + 48)
formulas <- list(strata = list(Surv(time, status) ~ age + ph.ecog + wt.loss + strata(sex), lung),
                 several = list(Surv(time, status) ~ age + factor(ph.ecog) + strata(sex, institute), lung),
                 interaction = list(Surv(time, status) ~ ph.ecog + age * strata(sex), lung),
                 late = list(Surv(start, stop, event) ~ age + years + surgery, heart),
                 both = list(Surv(start, stop, event) ~ age * years + strata(surgery), heart))

# With its data in its call, which some methods evaluate again.
coxph_of <- function(set, ...) do.call(survival::coxph, list(set[[1]], set[[2]], ...))

test_that("models of strata and late entries are those of coxph(), for both ties and with weights", {
  for (set in formulas) {
    set[[2]]$w <- rep(c(1, 2, 3), length.out = nrow(set[[2]]))
    data <- set[[2]]
    for (ties in c("efron", "breslow")) {
      found <- sheaf_glm(set[[1]], data = data, ties = ties)
      expected <- coxph_of(set, ties = ties)
      expect_identical(names(coef(found)), names(coef(expected)))
      expect_close(coef(found), coef(expected))
      expect_close(vcov(found), vcov(expected))
      expect_close(found$loglik, expected$loglik)
      expect_close(c(found$score, found$wald.test), c(expected$score, expected$wald.test))
      expect_close(found$concordance, expected$concordance[["concordance"]], 1e-3)
      expect_close(found$linear.predictors, expected$linear.predictors)
      for (type in c("martingale", "deviance", "score", "schoenfeld", "dfbeta", "scaledsch")) {
        expect_close(residuals(found, type), residuals(expected, type))
      }
      robust <- sheaf_glm(set[[1]], data = data, ties = ties, std_errors = "HC0")
      expect_close(vcov(robust), vcov(coxph_of(set, ties = ties, cluster = seq_len(nrow(data)))))
      weighted <- sheaf_glm(set[[1]], data = data, weights = w, ties = ties)
      expected <- coxph_of(set, weights = data$w, ties = ties)
      expect_close(coef(weighted), coef(expected))
      expect_close(vcov(weighted), vcov(expected))
      expect_close(residuals(weighted), residuals(expected))
    }
  }
})

test_that("functions of package survival take models of strata and late entries as they are", {
  for (set in formulas[c("strata", "late", "both")]) {
    found <- sheaf_glm(set[[1]], data = set[[2]])
    expected <- coxph_of(set)
    expect_close(survival::cox.zph(found)$table, survival::cox.zph(expected)$table)
    hazards <- c("hazard", "time")
    row <- set[[2]][1, ]
    expect_close(survival::basehaz(found, row)[hazards], survival::basehaz(expected, row)[hazards])
    expect_close(survival::survfit(found, newdata = row)$surv, survival::survfit(expected, newdata = row)$surv)
    expect_close(survival::concordance(found)$concordance, survival::concordance(expected)$concordance)
    for (type in c("lp", "risk", "expected", "survival", "terms")) {
      expect_close(predict(found, type = type), predict(expected, type = type))
      expect_close(predict(found, set[[2]][5:12, ], type = type), predict(expected, set[[2]][5:12, ], type = type))
    }
    expect_close(anova(found)$loglik, anova(expected)$loglik)
  }
  plain <- sheaf_glm(Surv(time, status) ~ age, data = lung)
  expect_error(anova(plain, sheaf_glm(Surv(time, status) ~ age + wt.loss + strata(sex), data = lung)), "strata",
               class = "sheaf_error")
  rows <- lung[1:3, c("age", "ph.ecog", "wt.loss")]  # linear predictors do not need the stratum
  found <- sheaf_glm(formulas$strata[[1]], data = lung)
  expect_close(predict(found, rows, type = "link"), drop(as.matrix(rows) %*% coef(found)))
})

test_that("clusters have the robust errors of coxph() and of vcovCL()", {
  by_term <- sheaf_glm(Surv(time, status) ~ age + sex + cluster(inst), data = lung)
  by_argument <- sheaf_glm(Surv(time, status) ~ age + sex, data = lung, cluster = inst)
  expected <- survival::coxph(Surv(time, status) ~ age + sex, lung, cluster = inst)
  expect_identical(names(coef(by_term)), c("age", "sex"))
  expect_close(survival::cox.zph(by_term)$table, survival::cox.zph(expected)$table)
  for (found in list(by_term, by_argument)) {
    expect_close(coef(found), coef(expected))
    expect_close(vcov(found), vcov(expected))
    ours <- summary(found)
    theirs <- summary(expected)
    expect_identical(dimnames(coef(ours)), dimnames(coef(theirs)))
    expect_close(coef(ours), coef(theirs))
    expect_close(ours$conf.int, theirs$conf.int)
    expect_close(ours$waldtest[["test"]], expected$wald.test)
    expect_close(found$naive.var, expected$naive.var)
    expect_output(print(ours), "robust se.*assume independent rows")
    expect_output(print(found), "robust se")
  }
  found <- sheaf_glm(Surv(start, stop, event) ~ age + years + strata(surgery), data = heart, cluster = id)
  expected <- survival::coxph(Surv(start, stop, event) ~ age + years + strata(surgery), heart, cluster = id)
  expect_close(vcov(found), vcov(expected))
  expect_close(found$wald.test, expected$wald.test)
  # Fewer clusters than coefficients: two tests in one.
  few <- sheaf_glm(Surv(time, status) ~ age + ph.ecog + wt.loss, data = lung, cluster = sex)
  expected <- survival::coxph(Surv(time, status) ~ age + ph.ecog + wt.loss, lung, cluster = sex)
  expect_close(coef(summary(few)), coef(summary(expected)))
  if (requireNamespace("broom", quietly = TRUE)) {
    expect_close(tidy(few)[, -1], as.data.frame(broom::tidy(expected))[, -1])
    expect_identical(names(tidy(few)), names(broom::tidy(expected)))
  }
  x <- as.matrix(lung[c("age", "sex")])
  expect_close(vcov(sheaf_glm(x, Surv(lung$time, lung$status), cluster = lung$inst)), vcov(by_term))
  skip_if_not_installed("sandwich")
  counts <- sheaf_glm(breaks ~ wool, family = poisson, data = warpbreaks, cluster = tension)
  expect_close(vcov(counts), sandwich::vcovCL(stats::glm(breaks ~ wool, poisson, warpbreaks),
                                              warpbreaks$tension, type = "HC0"))
})

test_that("matrices take strata, and penalised models of them are those of coxph()", {
  x <- as.matrix(lung[c("age", "ph.ecog", "wt.loss")])
  y <- Surv(lung$time, lung$status)
  found <- sheaf_glm(x, y, strata = lung$sex)
  expect_close(coef(found), coef(sheaf_glm(formulas$strata[[1]], data = lung)))
  penalised <- sheaf_glm(x, y, strata = lung$sex, alpha = 0.1)
  expected <- survival::coxph(y ~ survival::ridge(x, theta = 0.1 * nrow(x), scale = FALSE) + strata(sex), lung)
  expect_close(coef(penalised), coef(expected))
  by_name <- sheaf_glm(Surv(time, status) ~ age + ph.ecog + wt.loss + survival::strata(sex), data = lung)
  expect_identical(coef(by_name), coef(sheaf_glm(formulas$strata[[1]], data = lung)))
  expect_names_argument(sheaf_glm(x, lung$time, strata = lung$sex), "strata")
  expect_names_argument(sheaf_glm(x, y, strata = lung$sex[-1]), "strata")
  expect_names_argument(sheaf_glm(x, y, cluster = lung$sex[-1]), "cluster")
  expect_names_argument(sheaf_glm(x, y, std_errors = "cluster"), "cluster")
  expect_names_argument(sheaf_glm(x, Surv(lung$time, lung$time + 1, lung$status - 1, type = "interval")), "y")
  expect_names_argument(sheaf_glm(time ~ age + strata(sex), data = lung), "formula")
  expect_names_argument(sheaf_glm(Surv(time, status) ~ age + tt(sex), data = transform(lung, tt = 1)), "formula")
})

# glmnet's models depend on the order of rows where times tie; with strata or entries it often ends before it converges.
apart <- lung$time + seq_len(nrow(lung)) / 1e4
entry <- apart * rep(c(0, 0.3, 0.6), length.out = nrow(lung))
features <- as.matrix(lung[, c("age", "ph.ecog", "ph.karno", "pat.karno", "meal.cal", "wt.loss")])

# Without glmnet's class, and its strata.
likelihood_of <- function(y, lp) {
  groups <- attr(y, "strata") %||% rep(1, nrow(y))
  y <- structure(y, class = "Surv", strata = NULL)
  survival::coxph(y ~ offset(lp) + strata(groups), ties = "breslow")$loglik[1]
}
`%||%` <- function(value, otherwise) if (is.null(value)) otherwise else value

test_that("nets of strata and late entries are optima, by the scores of coxph()", {
  skip_if_not_installed("glmnet", "4.1")
  plain <- Surv(apart, lung$status)
  late <- Surv(entry, apart, lung$status == 2)
  tied <- Surv(ceiling(lung$time / 50) - 1, ceiling(lung$time / 50), lung$status == 2)
  folds <- rep(1:5, length.out = nrow(lung))
  lambda <- c(0.1, 0.03)
  for (y in list(glmnet::stratifySurv(plain, lung$sex), late, glmnet::stratifySurv(late, lung$sex),
                 glmnet::stratifySurv(tied, lung$sex))) {
    found <- sheaf_net(features, y, "cox", lambda = lambda, thresh = 1e-12)
    spread <- apply(features, 2, function(column) sqrt(mean((column - mean(column))^2)))
    groups <- attr(y, "strata") %||% rep(1, nrow(y))
    response <- structure(y, class = "Surv", strata = NULL)
    for (k in seq_along(lambda)) {
      beta <- as.matrix(found$beta)[, k]
      there <- survival::coxph(response ~ features + strata(groups), init = beta, ties = "breslow",
                               control = survival::coxph.control(iter.max = 0))
      pull <- colSums(residuals(there, "score")) / nrow(features) / spread
      expect_lte(max(abs(pull)), lambda[k] * (1 + 1e-4))
      if (any(beta != 0)) expect_close(pull[beta != 0], (lambda[k] * sign(beta))[beta != 0], 1e-4)
    }
    expected <- suppressWarnings(glmnet::glmnet(features, y, "cox", nlambda = 3))
    if (!anyDuplicated(response[, ncol(response) - 1])) {
      expect_close(sheaf_net(features, y, "cox", nlambda = 3)$lambda[1], expected$lambda[1])
      expect_close(found$nulldev, expected$nulldev)
    }
    # With tied events a perfect fit leaves a part of the likelihood, which does not depend on the model.
    gained <- 2 * (likelihood_of(y, drop(features %*% beta)) - likelihood_of(y, rep(0, nrow(y))))
    expect_close(found$dev.ratio[2], gained / found$nulldev)
  }
  # What the rows of a fold add to the deviance of the others, an event.
  y <- glmnet::stratifySurv(late, lung$sex)
  found <- cv_sheaf_net(features, y, family = "cox", foldid = folds, lambda = lambda, thresh = 1e-11)
  scores <- vapply(1:5, function(fold) {
    kept <- folds != fold
    of_others <- glmnet::stratifySurv(late[kept], lung$sex[kept])
    fit <- sheaf_net(features[kept, ], of_others, "cox", lambda = lambda, thresh = 1e-11)
    link <- predict(fit, features)
    vapply(1:2, function(k) likelihood_of(of_others, link[kept, k]) - likelihood_of(y, link[, k]), 0) * 2
  }, c(0, 0))
  expect_close(found$cvm, rowSums(scores) / sum(lung$status == 2))
})
