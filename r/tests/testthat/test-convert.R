formula <- case ~ age + parity + factor(induced) + spontaneous
ours <- sheaf_glm(formula, family = binomial, data = infert)
theirs <- stats::glm(formula, family = binomial, data = infert, control = exact)

test_that("what leaving out rows changes is that of glm()", {
  expect_close(rstudent(ours), rstudent(theirs))
  expect_close(dfbeta(ours), dfbeta(theirs))
  expect_close(dfbetas(ours), dfbetas(theirs))
  for (part in c("hat", "sigma", "dev.res", "pear.res")) {
    expect_close(influence(ours)[[part]], influence(theirs)[[part]])
  }
  expect_close(dffits(ours), stats::dffits(theirs))
  expect_close(covratio(ours), stats::covratio(theirs))
  expect_close(influence.measures(ours)$infmat, stats::influence.measures(theirs)$infmat)
  expect_identical(influence.measures(ours)$is.inf, stats::influence.measures(theirs)$is.inf)
  expect_equal(dffits(stats::lm(mpg ~ wt, mtcars)), stats::dffits(stats::lm(mpg ~ wt, mtcars)))
  weighted <- sheaf_glm(breaks ~ wool, data = warpbreaks, weights = as.numeric(tension), family = poisson)
  expect_close(rstudent(weighted), rstudent(stats::glm(breaks ~ wool, data = warpbreaks, weights = as.numeric(tension),
                                                       family = poisson, control = exact)))
  expect_names_argument(rstudent(sheaf_glm(formula, family = binomial, data = infert, alpha = 1)), "object")
  expect_names_argument(as_glm(sheaf_glm(Species ~ Sepal.Width, data = iris)), "object")
})

test_that("terms, partial residuals, profiles and score tests are those of glm()", {
  for (errors in c(FALSE, TRUE)) {
    expect_close(predict(ours, type = "terms", se.fit = errors)[[1]],
                 predict(theirs, type = "terms", se.fit = errors)[[1]])
  }
  expect_close(predict(ours, infert[3:9, ], type = "terms"), predict(theirs, infert[3:9, ], type = "terms"))
  expect_close(residuals(ours, "partial"), residuals(theirs, "partial"))
  expect_close(anova(ours, test = "Rao")$Rao, anova(theirs, test = "Rao")$Rao)
  smaller <- function(fit, ...) fit(case ~ age, family = binomial, data = infert, ...)
  expect_close(anova(smaller(sheaf_glm), ours, test = "Rao")$Rao,
               anova(smaller(stats::glm, control = exact), theirs, test = "Rao")$Rao)
  skip_if_not_installed("MASS")
  expect_close(profile(ours, which = "age")$age$z, suppressMessages(profile(theirs, which = "age"))$age$z, 1e-5)
  expect_close(confint(ours, method = "profile"), suppressMessages(confint(theirs)), 1e-5)
  expect_close(confint(ours, "age", 0.9, "profile"), suppressMessages(confint(theirs, "age", 0.9)), 1e-5)
})

test_that("clustered and other sandwiches are those of package sandwich", {
  skip_if_not_installed("sandwich")
  expect_close(sandwich::vcovCL(ours, cluster = infert$stratum), sandwich::vcovCL(theirs, cluster = infert$stratum))
  expect_close(sandwich::vcovHC(ours, "HC3"), sandwich::vcovHC(theirs, "HC3"))
  boot <- function(fit, ...) {
    set.seed(1)
    sandwich::vcovBS(fit, R = 5, ...)
  }
  expect_close(boot(ours), boot(theirs))
  expect_close(boot(ours, cluster = infert$education), boot(theirs, cluster = infert$education))
  expect_names_argument(boot(sheaf_glm(as.matrix(mtcars["wt"]), mtcars$mpg)), "x")
  expect_names_argument(boot(sheaf_glm(Species ~ Sepal.Width, data = iris)), "x")
  expect_close(sandwich::sandwich(sheaf_glm(mpg ~ wt, data = mtcars)),
               sandwich::sandwich(stats::glm(mpg ~ wt, data = mtcars)))
})

test_that("marginal means are those of emmeans", {
  skip_if_not_installed("emmeans")
  numbers <- function(fit, ...) {
    table <- as.data.frame(summary(emmeans::emmeans(fit, ...)))
    as.matrix(table[, setdiff(names(table)[-(1:2)], "df")])
  }
  expect_close(numbers(ours, ~ induced | spontaneous), numbers(theirs, ~ induced | spontaneous))
  counts <- function(fit, ...) fit(breaks ~ wool * tension, data = warpbreaks, family = poisson, ...)
  expect_close(numbers(counts(sheaf_glm), ~ tension | wool, type = "response"),
               numbers(counts(stats::glm, control = exact), ~ tension | wool, type = "response"))
  robust <- sheaf_glm(breaks ~ tension + wool, data = warpbreaks, std_errors = "HC0")
  expect_close(sqrt(diag(vcov(emmeans::emmeans(robust, "wool"))))[1],
               sqrt(sum(outer(c(1, 1 / 3, 1 / 3, 0), c(1, 1 / 3, 1 / 3, 0)) * vcov(robust))))
})

test_that("tables of rows have broom's columns", {
  skip_if_not_installed("broom")
  shared <- c(".fitted", ".resid", ".std.resid", ".hat", ".cooksd")
  expect_close(augment(ours)[shared], as.data.frame(broom::augment(theirs))[shared])
  gaps <- sheaf_glm(Ozone ~ Wind, data = airquality, na.action = stats::na.exclude)
  expect_identical(is.na(augment(gaps, airquality)$.hat), is.na(airquality$Ozone))
})

test_that("curves, hazards and residuals of Cox models are those of coxph()", {
  skip_if_not_installed("survival")
  formula <- survival::Surv(time, status) ~ age + factor(sex) + ph.ecog
  lung <- survival::lung
  lung$w <- rep(c(0.5, 1, 2), length.out = nrow(lung))
  for (ties in c("efron", "breslow")) {
    for (weighted in c(FALSE, TRUE)) {
      weights <- if (weighted) lung$w else rep(1, nrow(lung))
      ours <- sheaf_glm(formula, data = lung, weights = weights, ties = ties, subset = inst < 20)
      theirs <- survival::coxph(formula, data = lung, weights = weights, ties = ties, subset = inst < 20)
      for (type in c("score", "schoenfeld", "scaledsch", "dfbeta", "dfbetas", "partial")) {
        expect_close(residuals(ours, type), residuals(theirs, type))
      }
      for (type in c("expected", "survival", "terms")) {
        expect_close(predict(ours, type = type), predict(theirs, type = type))
        expect_close(predict(ours, lung[5:9, ], type = type), predict(theirs, lung[5:9, ], type = type))
      }
      curves <- function(fit) unclass(survival::survfit(fit, newdata = lung[1:2, ]))[c("surv", "std.err", "cumhaz")]
      for (part in 1:3) expect_close(curves(ours)[[part]], curves(theirs)[[part]])
      expect_close(survival::concordance(ours)$var, survival::concordance(theirs)$var)
      expect_close(survival::basehaz(ours), survival::basehaz(theirs))
      expect_close(survival::cox.zph(ours)$table, survival::cox.zph(theirs)$table)
    }
  }
  expect_names_argument(as_coxph(sheaf_glm(as.matrix(lung["age"]), survival::Surv(lung$time, lung$status))), "object")
  expect_names_argument(as_glm(ours), "object")
})

test_that("marginal means of classes are those of multinom()", {
  skip_if_not_installed("emmeans")
  formula <- Sat ~ Infl + Type
  ours <- sheaf_glm(formula, data = MASS::housing, weights = Freq)
  theirs <- nnet::multinom(formula, MASS::housing, weights = Freq, trace = FALSE, maxit = 5000, reltol = 1e-15)
  for (mode in c("prob", "latent")) {
    means <- function(fit) as.data.frame(emmeans::emmeans(fit, ~ Sat | Infl, mode = mode))
    found <- means(ours)
    expected <- means(theirs)
    expect_identical(found[c("Sat", "Infl", "df")], expected[c("Sat", "Infl", "df")])
    for (column in setdiff(names(expected), c("Sat", "Infl", "df"))) {
      expect_close(found[[column]], expected[[column]], 1e-4)
    }
  }
})
