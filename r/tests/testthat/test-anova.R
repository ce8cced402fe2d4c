test_that("models of other rows, responses, weights and families are not compared", {
  skip_if_not_installed("survival")
  lung <- survival::lung
  Surv <- survival::Surv
  small <- sheaf_glm(Surv(time, status) ~ age, data = lung)
  expect_error(anova(small, sheaf_glm(Surv(time, status) ~ age + ph.karno + wt.loss, data = lung)), "214 rows",
               class = "sheaf_error")
  cars <- sheaf_glm(mpg ~ wt, data = mtcars)
  refused <- function(other, pattern) expect_error(anova(cars, other), pattern, class = "sheaf_error")
  refused(sheaf_glm(mpg ~ wt + hp, data = mtcars[-1, ]), "31 rows and model 1 on 32")
  refused(sheaf_glm(log(mpg) ~ wt + hp, data = mtcars), "same response")
  refused(sheaf_glm(mpg ~ wt + hp, data = mtcars, weights = cyl), "same weights")
  refused(sheaf_glm(mpg ~ wt + hp + offset(cyl), data = mtcars), "same offset")
  refused(sheaf_glm(mpg ~ wt + hp, data = mtcars[32:1, ]), "same rows")
  refused(sheaf_glm(mpg ~ wt + hp, data = mtcars, family = Gamma("log")), "the same family and link")
  refused(sheaf_glm(mpg ~ wt + hp, data = mtcars, alpha = 0.1), "penalty")
  refused(sheaf_glm(mpg ~ hp + cyl, data = mtcars), "not nested: the smaller one has 'wt'")
  refused(sheaf_glm(mpg ~ hp, data = mtcars), "neither is a part")
  expect_error(anova(sheaf_glm(mpg ~ wt, data = mtcars, alpha = 0.1)), "penalty", class = "sheaf_error")
})

test_that("nested models of other columns are compared as by glm()", {
  table <- function(fit, ...) {
    anova(fit(mpg ~ wt, data = mtcars), fit(mpg ~ poly(wt, 2), data = mtcars),
          fit(mpg ~ poly(wt, 2) + hp, data = mtcars), ...)
  }
  for (test in c("Chisq", "F")) {
    expect_close(table(sheaf_glm, test = test)[[5]], table(stats::glm, test = test)[[5]])
    expect_close(table(sheaf_glm, test = test)[-1, 3:4], table(stats::glm, test = test)[-1, 3:4])
  }
  skip_if_not_installed("survival")
  Surv <- survival::Surv
  veteran <- survival::veteran
  ours <- anova(sheaf_glm(Surv(time, status) ~ karno, data = veteran),
                sheaf_glm(Surv(time, status) ~ poly(karno, 2), data = veteran))
  theirs <- anova(survival::coxph(Surv(time, status) ~ karno, data = veteran),
                  survival::coxph(Surv(time, status) ~ poly(karno, 2), data = veteran))
  expect_close(ours[2, 2:4], as.matrix(theirs[2, 2:4]))
})

test_that("negative binomial models are compared by likelihoods, as by MASS", {
  skip_if_not_installed("MASS")
  quine <- MASS::quine
  formulas <- list(Days ~ Sex, Days ~ Sex + Age, Days ~ Eth * Sex + Age)
  ours <- do.call(anova, lapply(formulas, sheaf_glm, data = quine, family = "negative.binomial"))
  theirs <- do.call(anova, lapply(formulas, function(f) MASS::glm.nb(f, data = quine, control = exact)))
  expect_close(ours$`LR stat.`, theirs$`LR stat.`, 1e-5)
  expect_close(ours$`Pr(Chi)`, theirs$`Pr(Chi)`, 1e-5)
  expect_close(ours$theta, theirs$theta)
  expect_equal(ours$Df[-1], theirs[[6]][-1])
  given <- sheaf_glm(Days ~ Sex, data = quine, family = "negative.binomial", theta = 2)
  expect_error(anova(given, sheaf_glm(Days ~ Sex + Age, data = quine, family = "negative.binomial")), "theta",
               class = "sheaf_error")
  # At a theta that is given, it is no parameter.
  theirs <- stats::glm(Days ~ Sex, data = quine, family = MASS::negative.binomial(2), control = exact)
  expect_close(AIC(given), AIC(theirs))
  expect_equal(attr(logLik(given), "df"), attr(logLik(theirs), "df"))
})
