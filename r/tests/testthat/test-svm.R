expect_like_svm <- function(found, expected, tolerance = 1e-4) {
  expect_close(found$decision.values, expected$decision.values, tolerance)
  expect_identical(dimnames(found$decision.values), dimnames(expected$decision.values))
  expect_equal(found$fitted, expected$fitted, tolerance = 1e-5)
  expect_close(found$rho, expected$rho, tolerance)
  expect_true(all(c("SV", "index", "coefs", "rho", "nSV", "tot.nSV", "labels", "levels", "nclasses", "x.scale") %in%
                    names(found)))
}

test_that("classification is that of e1071", {
  for (kernel in c("radial", "linear", "polynomial", "sigmoid")) {
    found <- sheaf_svm(Species ~ ., data = iris, kernel = kernel, tolerance = 1e-8)
    expected <- e1071::svm(Species ~ ., data = iris, kernel = kernel, tolerance = 1e-8)
    expect_like_svm(found, expected)
  }
  found <- sheaf_svm(Species ~ ., data = iris, kernel = "linear", tolerance = 1e-8)
  expected <- e1071::svm(Species ~ ., data = iris, kernel = "linear", tolerance = 1e-8)
  expect_identical(found$index, expected$index)
  expect_identical(found$nSV, expected$nSV)
  expect_close(found$SV, expected$SV)
  expect_close(found$coefs, expected$coefs, 1e-4)
  pima <- MASS::Pima.tr
  pima$type <- factor(pima$type, levels = unique(as.character(pima$type)))  # e1071 orders classes by their first rows
  for (weights in list(NULL, c(Yes = 2, No = 1))) {
    expect_like_svm(sheaf_svm(type ~ ., data = pima, class.weights = weights, tolerance = 1e-8),
                    e1071::svm(type ~ ., data = pima, class.weights = weights, tolerance = 1e-8))
  }
  expect_like_svm(sheaf_svm(type ~ ., data = pima, type = "nu-classification", nu = 0.4, tolerance = 1e-8),
                  e1071::svm(type ~ ., data = pima, type = "nu-classification", nu = 0.4, tolerance = 1e-8))
})

test_that("regression is that of e1071", {
  for (type in c("eps-regression", "nu-regression")) {
    found <- sheaf_svm(mpg ~ ., data = mtcars, type = type, tolerance = 1e-8)
    expected <- e1071::svm(mpg ~ ., data = mtcars, type = type, tolerance = 1e-8)
    expect_close(found$fitted, expected$fitted, 1e-4)
    expect_close(residuals(found), expected$residuals, 1e-3)
    expect_close(predict(found, mtcars[3:9, ]), predict(expected, mtcars[3:9, ]), 1e-4)
  }
  linear <- sheaf_svm(Fertility ~ ., data = swiss, kernel = "linear", tolerance = 1e-8)
  expect_close(coef(linear), coef(e1071::svm(Fertility ~ ., data = swiss, kernel = "linear", tolerance = 1e-8)), 1e-3)
})

test_that("factors among the features are not scaled, as in e1071", {
  data <- transform(MASS::birthwt, race = factor(race), low = factor(low, levels = c(0, 1)))
  found <- sheaf_svm(low ~ age + lwt + race, data = data, tolerance = 1e-8)
  expected <- e1071::svm(low ~ age + lwt + race, data = data, tolerance = 1e-8)
  expect_close(found$decision.values, expected$decision.values, 1e-4)
  expect_equal(predict(found, data[5:9, ]), predict(expected, data[5:9, ]))
})

test_that("one class is that of e1071", {
  x <- as.matrix(iris[1:50, 1:4])
  found <- sheaf_svm(x, nu = 0.3, tolerance = 1e-8)
  expected <- e1071::svm(x, nu = 0.3, type = "one-classification", tolerance = 1e-8)
  # A row on the boundary may fall either way.
  clear <- abs(expected$decision.values[, 1]) > 1e-5
  expect_identical(found$fitted[clear], expected$fitted[clear])
  expect_close(found$rho, expected$rho, 1e-4)
})

test_that("predictions keep levels, have attributes and survive a session", {
  x <- as.matrix(iris[, 1:4])
  y <- factor(iris$Species, levels = c("virginica", "setosa", "versicolor", "none"))
  fit <- sheaf_svm(x, y, probability = TRUE, seed = 1)
  found <- predict(fit, x, decision.values = TRUE, probability = TRUE)
  expect_identical(levels(found), levels(y))
  expect_identical(colnames(attr(found, "probabilities")), levels(y))
  expect_equal(unname(rowSums(attr(found, "probabilities"))), rep(1, 150))
  expect_identical(dim(attr(found, "decision.values")), c(150L, 3L))
  expect_gt(mean(found == y), 0.95)
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), x, probability = TRUE), predict(fit, x, probability = TRUE))
  again <- sheaf_svm(x, y, probability = TRUE, seed = 1, control = list(threads = 1))
  expect_identical(again$probA, fit$probA)
  set.seed(9)
  drawn <- sheaf_svm(x, y, probability = TRUE)$probA
  set.seed(9)
  expect_identical(sheaf_svm(x, y, probability = TRUE)$probA, drawn)
})

test_that("sparse rows are those of dense ones", {
  x <- as.matrix(iris[, 1:4])
  dense <- sheaf_svm(x, iris$Species, scale = FALSE)
  sparse <- sheaf_svm(as(x, "CsparseMatrix"), iris$Species)
  expect_close(sparse$decision.values, dense$decision.values)
  expect_output(print(dense), "radial")
  expect_output(print(summary(dense)), "Number of Classes")
})

test_that("models are written for other programs", {
  x <- as.matrix(iris[, 1:4])
  file <- tempfile()
  sheaf_write_model(sheaf_svm(x, iris$Species, scale = FALSE), file)
  expect_match(readLines(file, 1), "sheaf")
  sheaf_write_model(sheaf_svm(x, factor(as.integer(iris$Species)), scale = FALSE), file, "libsvm")
  expect_identical(readLines(file, 1), "svm_type c_svc")
})

test_that("tuning deals the folds of e1071 and finds nearly the same errors", {
  ranges <- list(cost = c(1, 10), gamma = c(0.05, 0.5))
  set.seed(2)
  found <- tune_sheaf_svm(Species ~ ., data = iris, ranges = ranges)
  set.seed(2)
  expected <- e1071::tune(e1071::svm, Species ~ ., data = iris, ranges = ranges)
  expect_identical(unname(c(found$train.ind)), unname(c(expected$train.ind)))
  expect_equal(found$performances[c("cost", "gamma")], expected$performances[c("cost", "gamma")])
  # Scaling divides by n here, by n - 1 there: a row may change sides.
  expect_lt(max(abs(found$performances$error - expected$performances$error)), 2 / 150)
  expect_true(all(names(expected) %in% names(found)))
  expect_gt(mean(predict(found, iris) == iris$Species), 0.9)
  expect_output(print(found), "best parameters")
  expect_output(print(summary(found)), "Detailed")
})

test_that("tuning without scaling has the errors of e1071", {
  x <- as.matrix(MASS::Pima.tr[, 1:7])
  y <- MASS::Pima.tr$type
  ranges <- list(cost = c(0.5, 8), gamma = 10^c(-5, -3))
  set.seed(3)
  found <- tune_sheaf_svm(x, y, ranges = ranges, scale = FALSE, cross = 5)
  set.seed(3)
  expected <- e1071::tune(e1071::svm, x, y, ranges = ranges, scale = FALSE,
                          tunecontrol = e1071::tune.control(cross = 5))
  expect_equal(found$performances, expected$performances, ignore_attr = TRUE, tolerance = 1e-2)
  other <- tune_sheaf_svm(x, y, ranges = list(cost = 1, kernel = c("radial", "linear")), foldid = rep(1:4, 50))
  expect_identical(nrow(other$performances), 2L)
  regression <- tune_sheaf_svm(as.matrix(swiss[, -1]), swiss$Fertility, ranges = list(epsilon = c(0.1, 0.3)), cross = 5)
  expect_lt(regression$best.performance, var(swiss$Fertility))
})

test_that("cross-validation of an SVM scores held-out rows", {
  x <- scale(as.matrix(iris[, 1:4]))
  set.seed(3)
  found <- sheaf_svm(x, iris$Species, scale = FALSE, cross = 5)
  set.seed(3)
  tuned <- tune_sheaf_svm(x, iris$Species, ranges = list(cost = 1), cross = 5, scale = FALSE)
  expect_length(found$accuracies, 5)
  expect_close(found$tot.accuracy, 100 * (1 - tuned$best.performance))
  expect_output(print(summary(found)), "Total Accuracy")
  set.seed(3)
  found <- sheaf_svm(mpg ~ wt + hp, data = mtcars, cross = 4)
  # By models that are trained fold by fold.
  set.seed(3)
  train <- deal_folds(nrow(mtcars), 4)
  scaled <- data.frame(scale(mtcars[c("mpg", "wt", "hp")]))
  errors <- vapply(train, function(rows) {
    fit <- e1071::svm(mpg ~ wt + hp, data = scaled[rows, ], scale = FALSE, tolerance = 1e-6)
    mean((predict(fit, scaled[-rows, ]) - scaled$mpg[-rows])^2) * var(mtcars$mpg)
  }, 0)
  expect_close(found$MSE, errors, 1e-2)
  expect_close(found$tot.MSE, weighted.mean(errors, nrow(mtcars) - lengths(train)), 1e-2)
  expect_output(print(summary(found)), "Mean Squared Error")
  expect_names_argument(sheaf_svm(x, cross = 3), "cross")
  expect_names_argument(sheaf_svm(x, iris$Species, cross = -1), "cross")
})

test_that("values to try are given as e1071::tune.svm() takes them", {
  skip_if_not_installed("e1071")
  x <- as.matrix(iris[, 1:4])
  set.seed(3)
  theirs <- e1071::tune.svm(x, iris$Species, gamma = 2^(-2:0), cost = c(1, 4))
  set.seed(3)
  ours <- tune_sheaf_svm(x, iris$Species, gamma = 2^(-2:0), cost = c(1, 4))
  expect_equal(ours$performances[c("gamma", "cost")], theirs$performances[c("gamma", "cost")], ignore_attr = TRUE)
  expect_lt(max(abs(ours$performances$error - theirs$performances$error)), 2.5 / 150)
  set.seed(3)
  formula <- tune_sheaf_svm(Species ~ ., data = iris, gamma = 2^(-2:0), cost = c(1, 4))
  expect_identical(formula$performances, ours$performances)
  set.seed(3)
  expect_identical(tune_sheaf_svm(x, iris$Species, ranges = list(gamma = 2^(-2:0), cost = c(1, 4)))$performances,
                   ours$performances)
  expect_names_argument(tune_sheaf_svm(x, iris$Species, ranges = list(gamma = 1), cost = 1:2), "cost")
})
