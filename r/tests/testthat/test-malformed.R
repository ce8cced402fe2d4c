x <- as.matrix(mtcars[, -1])
y <- mtcars$mpg

test_that("features that are none are refused by name", {
  expect_names_argument(sheaf_glm(1:10, 1:10), "x")
  expect_names_argument(sheaf_net(matrix("a", 3, 2), 1:3), "x")
  expect_names_argument(sheaf_net(x[0, ], numeric()), "x")
  expect_names_argument(sheaf_knn(iris, iris$Species), "x")
  expect_names_argument(sheaf_linear(list(1), 1), "data")
  expect_error(sheaf_net(data.frame(a = TRUE, day = Sys.Date())[c(1, 1, 1), ], 1:3), "'day' holds Date",
               class = "sheaf_error")
  expect_names_argument(sheaf_select(data.frame(day = Sys.Date() + 1:3), c("a", "b", "a")), "x")
  expect_names_argument(sheaf_neighbors(mtcars, queries = 1), "queries")
  missing <- x
  missing[3, 2] <- NA
  for (train in list(sheaf_glm, sheaf_net, sheaf_svm, sheaf_knn)) {
    expect_names_argument(train(missing, y), "x")
  }
  expect_names_argument(sheaf_search(missing, y, prepare = list(impute = "none")), "x")
  expect_error(sheaf_glm(missing, y), "row 3 of column 2", class = "sheaf_error")
  infinite <- as(x, "CsparseMatrix")
  infinite@x[1] <- Inf
  expect_names_argument(sheaf_net(infinite, y), "x")
})

test_that("responses that do not suit are refused by name", {
  expect_names_argument(sheaf_glm(x, y[-1]), "y")
  expect_names_argument(sheaf_glm(x, c(NA, y[-1])), "y")
  expect_names_argument(sheaf_glm(x[, 1:2], -y, family = poisson), "y")
  expect_names_argument(sheaf_glm(x[, 1:2], y - 15, family = Gamma), "y")
  expect_names_argument(sheaf_glm(x[, 1:2], y, family = binomial), "y")
  expect_names_argument(sheaf_glm(x[, 1:2], factor(mtcars$cyl), family = gaussian), "y")
  expect_names_argument(sheaf_glm(x[, 1:2], factor(mtcars$cyl), family = binomial), "family")
  expect_names_argument(sheaf_glm(x[, 1:2], factor(rep("a", 32))), "y")
  expect_names_argument(sheaf_glm(x), "y")
  expect_names_argument(sheaf_net(x, rep(1, 32)), "y")
  expect_names_argument(sheaf_net(x, factor(mtcars$cyl), family = "binomial"), "y")
  expect_names_argument(sheaf_svm(x, factor(mtcars$cyl), type = "eps-regression"), "y")
  expect_names_argument(sheaf_select(x, rep("a", 32)), "y")
  expect_names_argument(sheaf_search(x, list(1)), "y")
})

test_that("options out of range are refused by name", {
  expect_names_argument(sheaf_glm(x, y, alpha = -1), "alpha")
  expect_names_argument(sheaf_glm(x, y, solver = "adam"), "solver")
  expect_names_argument(sheaf_glm(x, y, family = "cauchy"), "family")
  expect_names_argument(sheaf_glm(x, y, family = poisson(power(0.3))), "family")
  expect_names_argument(sheaf_glm(x[, 1], y), "x")
  expect_names_argument(sheaf_glm(x[, 1:2], y, family = "tweedie", power = 3), "power")
  expect_names_argument(sheaf_glm(x, y, tolerance = -1), "tolerance")
  expect_names_argument(sheaf_glm(x, y, nonsense = 1), "nonsense")
  expect_names_argument(sheaf_glm(mpg ~ wt, data = mtcars, nonsense = 1), "nonsense")
  expect_names_argument(sheaf_net(x, y, alpha = 2), "alpha")
  expect_names_argument(sheaf_net(x, y, family = "cauchy"), "family")
  expect_names_argument(sheaf_net(x, y, family = "mgaussian"), "y")
  expect_names_argument(sheaf_net(x, y, lambda = -1), "lambda")
  expect_names_argument(sheaf_net(x, y, penalty.factor = 1), "penalty.factor")
  expect_names_argument(sheaf_net(x, y, lower.limits = 1), "lower.limits")
  expect_names_argument(sheaf_net(x, y, upper.limits = c(1, -1, 1)), "upper.limits")
  expect_names_argument(sheaf_net(x, y, upper.limits = NA_real_), "upper.limits")
  expect_names_argument(sheaf_net(x, cbind(y, 2 * y), "mgaussian", standardize.response = TRUE, lower.limits = 0),
                        "lower.limits")
  expect_names_argument(sheaf_net(x, y, thresh = 0), "thresh")
  expect_names_argument(sheaf_net(x, mtcars$am, "binomial", offset = y[-1]), "offset")
  expect_names_argument(cv_sheaf_net(x, y, nfolds = 2), "nfolds")
  expect_names_argument(cv_sheaf_net(x, y, type.measure = "auc"), "type.measure")
  expect_names_argument(cv_sheaf_net(x, y, nonsense = 1), "nonsense")
  expect_names_argument(cv_sheaf_net(x, y, foldid = 1:3), "foldid")
  expect_names_argument(sheaf_svm(x, y, cost = -1), "cost")
  expect_names_argument(sheaf_svm(x, y, kernel = "laplace"), "kernel")
  expect_names_argument(sheaf_svm(x, factor(mtcars$cyl), class.weights = c(five = 1)), "class.weights")
  expect_names_argument(sheaf_svm(x, y, scale = NA), "scale")
  expect_names_argument(sheaf_knn(x, y, k = 0), "k")
  expect_names_argument(sheaf_knn(x, y, metric = "taxi"), "metric")
  expect_names_argument(sheaf_distances(x, metric = "taxi"), "metric")
  expect_names_argument(tune_sheaf_svm(x, y, ranges = list(colour = 1)), "ranges")
  expect_names_argument(sheaf_search(x, y, grid = list(colour = 1)), "colour")
  expect_names_argument(sheaf_search(x, y, colour = 1), "colour")
  expect_names_argument(sheaf_search(x, y, score = "beauty"), "score")
  expect_names_argument(sheaf_search(x, y, prepare = list(scale = "nicely")), "scale")
  expect_names_argument(sheaf_search(x, y, foldid = rep(1, 32)), "foldid")
  expect_names_argument(sheaf_study(x, y, resamples = 1), "resamples")
})

test_that("weights, offsets and groups are checked", {
  for (weights in list(1:3, rep(-1, 32), rep(0, 32), c(NA, rep(1, 31)), letters)) {
    expect_names_argument(sheaf_glm(x, y, weights = weights), "weights")
    expect_names_argument(sheaf_net(x, y, weights = weights), "weights")
  }
  expect_names_argument(sheaf_glm(x, y, offset = 1:3), "offset")
  expect_names_argument(sheaf_search(x, y, groups = 1:3), "groups")
})

test_that("surroundings are checked", {
  expect_names_argument(sheaf_glm(x, y, control = list(device = "abacus")), "device")
  expect_names_argument(sheaf_glm(x, y, control = list(threads = 0)), "threads")
  expect_names_argument(sheaf_glm(x, y, control = list(memory = "much")), "memory")
  expect_names_argument(sheaf_glm(x, y, control = list(precision = "half")), "precision")
  expect_names_argument(sheaf_glm(x, y, control = list(colour = 1)), "control")
  expect_names_argument(sheaf_glm(x, y, control = 3), "control")
})

test_that("predictions for other columns are refused", {
  expect_names_argument(predict(sheaf_glm(x, y), x[, 1:3]), "newdata")
  expect_names_argument(predict(sheaf_net(x, y), x[, 1:3]), "newx")
  expect_names_argument(predict(sheaf_net(x, y)), "newx")
  expect_names_argument(predict(sheaf_svm(x, y), x[, 1:3]), "newdata")
  expect_names_argument(predict(sheaf_net(x, y), x, type = "class"), "type")
  expect_names_argument(predict(sheaf_glm(x, y), type = "class"), "type")
  expect_error(predict(sheaf_glm(mpg ~ factor(cyl), data = mtcars), data.frame(cyl = 5)))
})
