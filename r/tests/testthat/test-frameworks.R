test_that("caret trains and tunes our models", {
  skip_if_not(suppressWarnings(requireNamespace("caret", quietly = TRUE)), "caret")
  set.seed(1)
  for (model in c("svm", "linear", "net", "knn", "local")) {
    fit <- suppressWarnings(caret::train(iris[, 1:4], iris$Species, method = sheaf_caret(model), tuneLength = 2,
                                         trControl = caret::trainControl("cv", number = 3)))
    expect_gt(max(fit$results$Accuracy), 0.85)
    expect_identical(levels(predict(fit, iris[, 1:4])), levels(iris$Species))
    if (model %in% c("linear", "net", "knn")) {
      shares <- predict(fit, iris[1:5, 1:4], type = "prob")
      expect_identical(names(shares), levels(iris$Species))
      expect_equal(unname(rowSums(shares)), rep(1, 5))
    }
  }
  for (model in c("svm", "net", "knn")) {
    fit <- suppressWarnings(caret::train(swiss[, -1], swiss$Fertility, method = sheaf_caret(model), tuneLength = 2,
                                         trControl = caret::trainControl("cv", number = 3)))
    expect_gt(cor(predict(fit, swiss[, -1]), swiss$Fertility), 0.5)
  }
  expect_names_argument(sheaf_caret("tree"), "model")
})

test_that("mlr trains our models", {
  skip_if_not(suppressWarnings(requireNamespace("mlr", quietly = TRUE)), "mlr")
  suppressPackageStartupMessages(loadNamespace("mlr"))
  task <- mlr::makeClassifTask(data = iris, target = "Species")
  for (model in c("svm", "linear", "net", "knn", "local")) {
    learner <- mlr::makeLearner(paste0("classif.sheaf_", model))
    fit <- mlr::train(learner, task)
    expect_gt(mean(predict(fit, task)$data$response == iris$Species), 0.9)
  }
  shares <- predict(mlr::train(mlr::makeLearner("classif.sheaf_knn", predict.type = "prob", k = 7), task), task)
  expect_identical(ncol(mlr::getPredictionProbabilities(shares)), 3L)
  numbers <- mlr::makeRegrTask(data = swiss, target = "Fertility")
  fit <- mlr::train(mlr::makeLearner("regr.sheaf_svm", cost = 4), numbers)
  expect_gt(cor(predict(fit, numbers)$data$response, swiss$Fertility), 0.8)
})

test_that("the engine for parsnip names functions and arguments that there are", {
  said <- list()
  record <- function(name) {
    force(name)
    function(...) said[[length(said) + 1]] <<- c(list(call = name), list(...))
  }
  calls <- c("set_model_engine", "set_dependency", "set_model_arg", "set_fit", "set_encoding", "set_pred")
  sheaf_parsnip(list2env(stats::setNames(lapply(calls, record), calls)))
  fits <- Filter(function(one) one$call == "set_fit", said)
  expect_length(fits, 5)
  for (one in fits) {
    f <- one[[5]]$func[["fun"]]
    known <- names(formals(getS3method(f, "default")))
    expect_true(all(names(one[[5]]$defaults) %in% known))
    arguments <- Filter(function(other) other$call == "set_model_arg" && other[[2]] == one[[2]], said)
    expect_true(all(vapply(arguments, `[[`, "", 5) %in% known))
  }
})

test_that("responses are simulated from the model", {
  fits <- list(
    sheaf_glm(mpg ~ wt, data = mtcars), sheaf_glm(case ~ age + spontaneous, family = binomial, data = infert),
    sheaf_glm(breaks ~ wool + tension, family = poisson, data = warpbreaks),
    sheaf_glm(breaks ~ wool, family = "negative.binomial", data = warpbreaks),
    sheaf_glm(dist ~ speed, family = Gamma("log"), data = cars),
    sheaf_glm(dist ~ speed, family = inverse.gaussian, data = cars),
    sheaf_glm(breaks ~ wool, family = "tweedie", power = 1.4, data = warpbreaks)
  )
  for (fit in fits) {
    drawn <- simulate(fit, 400, seed = 5)
    expect_identical(dim(drawn), c(length(fitted(fit)), 400L))
    error <- sqrt(mean((rowMeans(drawn) - fitted(fit))^2)) / sqrt(mean(apply(drawn, 1, var)))
    expect_lt(error, 0.1) # 1 / sqrt(400) on average
    expect_identical(drawn, simulate(fit, 400, seed = 5))
  }
  classes <- simulate(sheaf_glm(Species ~ Sepal.Length, data = iris), 300, seed = 1)
  expect_identical(levels(classes[[1]]), levels(iris$Species))
  shares <- rowMeans(classes == "virginica")
  fit <- sheaf_glm(Species ~ Sepal.Length, data = iris)
  expect_lt(max(abs(shares - fitted(fit)[, "virginica"])), 0.15)
  expect_names_argument(simulate(fit, 0), "nsim")
  two <- simulate(sheaf_glm(as.factor(am) ~ wt, data = mtcars), 2, seed = 1)
  expect_s3_class(two$sim_1, "factor")
  set.seed(9)
  before <- .Random.seed
  simulate(fit, 1, seed = 3)
  expect_identical(.Random.seed, before)
})

test_that("peptide-spectrum matches are rescored", {
  set.seed(1)
  good <- rep(c(TRUE, FALSE), c(1000, 3000))
  pin <- data.frame(SpecId = seq_along(good), Label = rep(c(1, -1), each = 2000), ScanNr = seq_along(good),
                    score = rnorm(4000, 3 * good), delta = rnorm(4000, 2 * good), noise = rnorm(4000),
                    Peptide = paste0("K.PEP", seq_along(good), ".R"), Proteins = paste0("protein", seq_along(good)))
  found <- sheaf_percolator(pin, seed = 1)
  expect_identical(nrow(found$psms), 4000L)
  expect_gt(found$accepted, found$initial)
  accepted <- subset(found$psms, target & q < 0.01)
  expect_equal(nrow(accepted), found$accepted)
  expect_lt(mean(as.integer(accepted$id) > 1000), 0.05)
  expect_false(is.unsorted(-found$psms$score))
  expect_identical(rownames(coef(found)), c("score", "delta", "noise", "(Intercept)"))
  expect_output(print(found), "target PSMs at a false discovery rate of 0.01")
  expect_names_argument(sheaf_percolator(pin[, -2]), "x")
  expect_names_argument(sheaf_percolator(3), "x")
  expect_names_argument(sheaf_percolator(pin, no_such_option = 1), "no_such_option")
  expect_true("train-fdr" %in% sheaf_parameters("percolator")$name)
})

test_that("mlr lists its learners with ours among them", {
  skip_if_not_installed("mlr")
  found <- mlr::listLearners(warn.missing.packages = FALSE)
  expect_true(all(c("classif.sheaf_svm", "regr.sheaf_svm", "classif.sheaf_knn") %in% found$class))
  listed <- mlr::listLearners("classif", properties = "prob", warn.missing.packages = FALSE)
  expect_true("classif.sheaf_net" %in% listed$class)
})
