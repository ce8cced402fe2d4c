x <- scale(as.matrix(iris[, 1:4]))
two <- droplevels(iris$Species[51:150])

# Of weights with the bias at the end: the gradient of LIBLINEAR's objective.
gradient <- function(w, x, y, type, cost, bias = 1, epsilon = 0.1) {
  z <- cbind(x, bias)
  decision <- drop(z %*% w)
  slope <- switch(type,
    logistic = -y / (1 + exp(y * decision)),
    svm = -2 * y * pmax(0, 1 - y * decision),
    svr = 2 * sign(decision - y) * pmax(0, abs(decision - y) - epsilon)
  )
  w + cost * drop(crossprod(z, slope))
}

test_that("models minimise LIBLINEAR's objectives", {
  y <- ifelse(two == "versicolor", 1, -1)
  rows <- x[51:150, ]
  for (type in c(0, 2, 7, 1)) {
    fit <- sheaf_linear(rows, two, type = type, cost = 0.7, epsilon = 1e-10)
    loss <- if (type %in% c(0, 7)) "logistic" else "svm"
    expect_lt(max(abs(gradient(drop(fit$W), rows, y, loss, 0.7))), 1e-3)
    expect_identical(colnames(fit$W)[5], "Bias")
  }
  fit <- sheaf_linear(as.matrix(swiss[, -1]) / 100, swiss$Fertility, type = 11, cost = 0.1, epsilon = 1e-12)
  expect_lt(max(abs(gradient(drop(fit$W), as.matrix(swiss[, -1]) / 100, swiss$Fertility, "svr", 0.1))), 1e-2)
})

test_that("predictions follow the decision values", {
  fit <- sheaf_linear(x, iris$Species)
  found <- predict(fit, x, proba = TRUE, decisionValues = TRUE)
  decisions <- cbind(x, 1) %*% t(fit$W)
  expect_close(found$decisionValues, decisions)
  expect_identical(as.character(found$predictions), rownames(fit$W)[max.col(decisions)])
  expect_equal(unname(rowSums(found$probabilities)), rep(1, 150))
  binary <- sheaf_linear(x[51:150, ], two)
  answer <- predict(binary, x[51:150, ], decisionValues = TRUE, proba = TRUE)
  expect_identical(answer$decisionValues[, 1] > 0, answer$predictions == binary$ClassNames[1])
  expect_close(answer$probabilities[, "versicolor"], 1 / (1 + exp(-answer$decisionValues[, 1])))
  regression <- sheaf_linear(as.matrix(mtcars[, -1]), mtcars$mpg, type = 11)
  expect_gt(cor(predict(regression, as.matrix(mtcars[, -1]))$predictions, mtcars$mpg), 0.8)
  expect_output(print(fit), "L2R_LR")
  weighted <- sheaf_linear(x[51:150, ], two, wi = c(versicolor = 20))
  expect_gt(mean(predict(weighted, x[51:150, ])$predictions == "versicolor"), mean(answer$predictions == "versicolor"))
})

test_that("models of the dual and with an L1 penalty are optimal", {
  y <- ifelse(two == "versicolor", 1, -1)
  rows <- x[51:150, ]
  z <- cbind(rows, 1)
  # Hinge loss: no step of any weight makes the objective smaller.
  objective <- function(w) sum(w^2) / 2 + 0.7 * sum(pmax(0, 1 - y * drop(z %*% w)))
  fit <- sheaf_linear(rows, two, type = 3, cost = 0.7, epsilon = 1e-8)
  best <- objective(drop(fit$W))
  for (j in 1:5) for (by in c(-0.01, 0.01)) expect_gt(objective(replace(drop(fit$W), j, fit$W[j] + by)), best)
  # L1 penalty: the slope of the losses is the weight's sign, or at most 1 where the weight is 0.
  for (type in 5:6) {
    fit <- sheaf_linear(rows, two, type = type, cost = 0.3, epsilon = 1e-10)
    w <- drop(fit$W)
    slope <- gradient(w, rows, y, if (type == 5) "svm" else "logistic", 0.3) - w
    expect_lt(max(abs(slope)), 1 + 1e-3)
    expect_lt(max(abs((slope + sign(w))[w != 0])), 1e-3)
    expect_true(any(w == 0) || type == 5)
  }
  expect_equal(unname(rowSums(predict(sheaf_linear(x, iris$Species, type = 6), x, proba = TRUE)$probabilities)),
               rep(1, 150))
})

test_that("Crammer and Singer's model has a row for each class", {
  fit <- sheaf_linear(x, iris$Species, type = 4, cost = 0.1, epsilon = 1e-8)
  expect_identical(rownames(fit$W), levels(iris$Species))
  z <- cbind(x, 1)
  own <- cbind(1:150, as.integer(iris$Species))
  objective <- function(w) {
    scores <- z %*% t(w) + 1
    scores[own] <- scores[own] - 1
    sum(w^2) / 2 + 0.1 * sum(apply(scores, 1, max) - scores[own])
  }
  best <- objective(fit$W)
  for (k in 1:3) for (j in 1:5) for (by in c(-0.01, 0.01)) {
    w <- fit$W
    w[k, j] <- w[k, j] + by
    expect_gt(objective(w), best)
  }
  expect_gt(mean(predict(fit, x)$predictions == iris$Species), 0.9)
})

test_that("a one-class model leaves out the share that it is told", {
  rows <- cbind(x[1:50, ] + 5)
  fit <- sheaf_linear(rows, type = 21, nu = 0.2, epsilon = 1e-8)
  inside <- predict(fit, rows, decisionValues = TRUE)
  expect_type(inside$predictions, "logical")
  expect_lte(sum(inside$decisionValues < -1e-6), 10)
  expect_gte(sum(inside$decisionValues < 1e-6), 10)
  expect_close(inside$decisionValues, cbind(rows, 1) %*% t(fit$W))
  expect_output(print(fit), "ONECLASS_SVM")
  expect_names_argument(sheaf_linear(rows, type = 21, nu = 0), "nu")
})

test_that("regression with absolute loss is optimal", {
  z <- cbind(as.matrix(swiss[, -1]) / 100, 1)
  fit <- sheaf_linear(z[, -6], swiss$Fertility, type = 13, cost = 2, svr_eps = 1, epsilon = 1e-8)
  objective <- function(w) sum(w^2) / 2 + 2 * sum(pmax(0, abs(swiss$Fertility - drop(z %*% w)) - 1))
  for (j in 1:6) for (by in c(-0.05, 0.05)) {
    expect_gt(objective(replace(drop(fit$W), j, fit$W[j] + by)), objective(drop(fit$W)))
  }
})

test_that("types that are not there are refused", {
  expect_names_argument(sheaf_linear(x, iris$Species, type = 8), "type")
  expect_names_argument(sheaf_linear(x, iris$Species, type = 11), "target")
  expect_names_argument(predict(sheaf_linear(x, iris$Species, type = 2), x, proba = TRUE), "proba")
})

test_that("local models follow their neighbours", {
  train <- seq(1, 150, 2)
  for (kind in c("hknn", "alh", "cknn", "local-svm", "falk-svm")) {
    fit <- sheaf_local(x[train, ], iris$Species[train], kind = kind, k = if (grepl("svm", kind)) 30)
    predicted <- predict(fit, x[-train, ])
    expect_gt(mean(predicted == iris$Species[-train]), 0.9)
    expect_identical(levels(predicted), levels(iris$Species))
    expect_output(print(fit), kind, fixed = TRUE)
  }
  # All rows are neighbours: the one SVM of all of them.
  both <- c(51:100, 101:150)
  fit <- sheaf_local(x[both, ], two, kind = "local-svm", k = 100, cost = 2, tolerance = 1e-6)
  whole <- sheaf_svm(x[both, ], two, scale = FALSE, kernel = "linear", cost = 2, tolerance = 1e-6)
  expect_identical(predict(fit, x[both, ]), unname(whole$fitted))
  expect_s3_class(sheaf_local(Species ~ ., data = iris), "sheaf_local")
  expect_names_argument(sheaf_local(x, iris$Species, kind = "local-svm", lambda = 1), "lambda")
  expect_names_argument(sheaf_local(x, iris$Species, cost = 1), "cost")
  expect_names_argument(sheaf_local(x, iris$Sepal.Length), "y")
})

naive_votes <- function(x, queries, y, k) {
  squares <- as.matrix(dist(rbind(queries, x)))[seq_len(nrow(queries)), -seq_len(nrow(queries))]
  t(apply(squares, 1, function(row) table(y[order(row)[seq_len(k)]]) / k))
}

test_that("neighbours vote", {
  train <- seq(1, 150, 2)
  for (k in c(1, 6)) {
    fit <- sheaf_knn(x[train, ], iris$Species[train], k = k)
    expected <- naive_votes(x[train, ], x[-train, ], iris$Species[train], k)
    expect_close(predict(fit, x[-train, ], type = "prob"), expected)
  }
  regression <- sheaf_knn(mpg ~ wt + qsec, data = mtcars, k = 1)
  expect_equal(unname(predict(regression, mtcars)), mtcars$mpg)
  for (kind in c("hknn", "alh", "cknn")) {
    local <- sheaf_knn(x[train, ], iris$Species[train], kind = kind, k = 5)
    expect_gt(mean(predict(local, x[-train, ]) == iris$Species[-train]), 0.9)
    expect_identical(dim(predict(local, x[-train, ], type = "decision")), c(75L, 3L))
  }
  expect_output(print(regression), "k = 1")
})

test_that("weights of features count, and models survive a session", {
  fit <- sheaf_knn(x, iris$Species, feature_weights = c(0, 0, 1, 1))
  expect_identical(predict(fit, x), predict(sheaf_knn(x[, 3:4], iris$Species), x[, 3:4]))
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), x), predict(fit, x))
  expect_names_argument(sheaf_knn(x, iris$Species, feature_weights = 1:3), "feature_weights")
  expect_names_argument(predict(sheaf_knn(x, iris$Species, kind = "hknn"), x, type = "prob"), "type")
})
