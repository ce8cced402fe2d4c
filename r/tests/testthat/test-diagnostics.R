exact <- stats::glm.control(epsilon = 1e-15, maxit = 200)

test_that("leverages, standardised residuals and distances are those of glm", {
  sets <- list(list(mpg ~ wt + factor(cyl), gaussian(), mtcars),
               list(case ~ age + parity + spontaneous, binomial(), infert),
               list(breaks ~ wool + tension, poisson(), warpbreaks),
               list(breaks ~ wool + tension, Gamma("log"), warpbreaks))
  for (set in sets) {
    data <- set[[3]]
    data$w <- rep(1:2, length.out = nrow(data))
    found <- sheaf_glm(set[[1]], data = data, family = set[[2]], weights = w)
    expected <- glm(set[[1]], data = data, family = set[[2]], weights = w, control = exact)
    expect_close(hatvalues(found), hatvalues(expected))
    for (type in c("deviance", "pearson")) expect_close(rstandard(found, type), rstandard(expected, type = type))
    expect_close(cooks.distance(found), cooks.distance(expected))
    expect_equal(weights(found), unname(weights(expected)))
    expect_close(weights(found, "working"), weights(expected, "working"))
    expect_close(extractAIC(found), extractAIC(expected))
    expect_equal(model.frame(found), model.frame(expected), ignore_attr = TRUE)
    expect_equal(model.matrix(found), model.matrix(expected), ignore_attr = TRUE)
  }
})

test_that("step and drop1 choose what they choose for glm", {
  found <- step(sheaf_glm(bwt ~ age + lwt + smoke + ht + ftv, data = MASS::birthwt), trace = 0)
  expected <- step(glm(bwt ~ age + lwt + smoke + ht + ftv, data = MASS::birthwt), trace = 0)
  expect_identical(formula(found), formula(expected))
  found <- drop1(sheaf_glm(low ~ age + lwt + smoke, family = binomial, data = MASS::birthwt))
  expected <- drop1(glm(low ~ age + lwt + smoke, family = binomial, data = MASS::birthwt))
  expect_close(found$AIC, expected$AIC)
})

test_that("what has no leverages says so", {
  species <- sheaf_glm(Species ~ Sepal.Width, data = iris)
  expect_names_argument(hatvalues(species), "model")
  expect_names_argument(plot(species), "x")
  penalised <- sheaf_glm(mpg ~ wt, data = mtcars, alpha = 0.1)
  expect_error(hatvalues(penalised), "penalised")
  expect_names_argument(plot(penalised), "which")
  expect_names_argument(plot(sheaf_glm(mpg ~ wt, data = mtcars), which = 7), "which")
  expect_error(model.frame(sheaf_glm(mpg ~ wt, data = mtcars, model = FALSE)), "model frame")
})

test_that("residuals, tuned SVMs and classes of SVMs are drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(sheaf_glm(mpg ~ wt, data = mtcars)))
  expect_silent(plot(sheaf_glm(mpg ~ wt, data = mtcars, alpha = 0.1), which = 1))
  set.seed(1)
  one <- tune_sheaf_svm(Species ~ ., data = iris, ranges = list(cost = c(1, 10)))
  two <- tune_sheaf_svm(Species ~ ., data = iris, ranges = list(cost = c(1, 10), gamma = c(0.1, 1, 2)))
  expect_silent(plot(one, transform.x = log10))
  expect_silent(plot(two))
  expect_silent(plot(two, type = "perspective"))
  named <- tune_sheaf_svm(Species ~ ., data = iris, ranges = list(kernel = c("linear", "radial")))
  expect_names_argument(plot(named), "x")
  fit <- sheaf_svm(Species ~ ., data = iris)
  expect_silent(plot(fit, iris, Petal.Width ~ Petal.Length, slice = list(Sepal.Width = 3)))
  expect_silent(plot(sheaf_svm(Species ~ Petal.Width + Petal.Length, data = iris), iris))
  expect_names_argument(plot(fit, iris), "formula")
  expect_names_argument(plot(sheaf_svm(as.matrix(iris[, 1:4]), iris$Species), iris), "x")
  expect_names_argument(plot(sheaf_svm(mpg ~ wt + hp, data = mtcars), mtcars), "x")
})

test_that("matrices of models have what car and lmtest look for", {
  formula <- Petal.Width ~ Species + Sepal.Length * Sepal.Width
  ours <- sheaf_glm(formula, data = iris)
  theirs <- stats::glm(formula, data = iris)
  expect_equal(model.matrix(ours), model.matrix(theirs))
  ours <- sheaf_glm(am ~ factor(cyl) + wt, data = mtcars, family = poisson)
  theirs <- stats::glm(am ~ factor(cyl) + wt, data = mtcars, family = poisson, control = exact)
  if (requireNamespace("car", quietly = TRUE)) expect_close(car::vif(ours), car::vif(theirs))
  skip_if_not_installed("lmtest")
  expect_close(lmtest::coeftest(ours), lmtest::coeftest(theirs))
  expect_match(attr(lmtest::coeftest(ours), "method"), "z test")
  expect_close(lmtest::coeftest(sheaf_glm(mpg ~ wt, data = mtcars)),
               lmtest::coeftest(stats::lm(mpg ~ wt, data = mtcars)))
  classes <- suppressWarnings(sheaf_glm(Species ~ Sepal.Length, data = iris))
  expect_equal(unclass(lmtest::coeftest(classes))[, 1:4], coef(summary(classes)), ignore_attr = TRUE)
})
