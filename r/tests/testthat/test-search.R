x <- as.matrix(iris[, 1:4])

test_that("scores of a search are those of its models on its folds", {
  foldid <- rep(1:5, 30)
  found <- sheaf_search(x, iris$Species, model = "knn", grid = list(k = c(1, 9)), foldid = foldid, seed = 1,
                        prepare = list(scale = "none"))
  for (place in 1:2) {
    expected <- vapply(1:5, function(fold) {
      fit <- sheaf_knn(x[foldid != fold, ], iris$Species[foldid != fold], k = found$results$k[place])
      mean(predict(fit, x[foldid == fold, ]) == iris$Species[foldid == fold])
    }, 0)
    expect_close(found$scores$accuracy[place, ], expected)
  }
  expect_identical(found$best$k, found$results$k[found$chosen])
  expect_equal(found$results$mean, rowMeans(found$scores$accuracy))
})

test_that("the chosen model is trained on all rows, with its steps", {
  found <- sheaf_search(x, iris$Species, model = "svm", grid = list(cost = 10, gamma = 0.1), seed = 1,
                        prepare = list(scale = "standard"))
  scaled <- scale(x) * sqrt(150 / 149)
  alone <- sheaf_svm(scaled, iris$Species, scale = FALSE, cost = 10, gamma = 0.1)
  expect_identical(predict(found, x), unname(alone$fitted))
  expect_close(predict(found, x, type = "decision"), alone$decision.values, 1e-3)
  expect_identical(predict(found, iris[, 4:1]), predict(found, x))
  file <- tempfile()
  saveRDS(found, file)
  expect_identical(predict(readRDS(file), x), predict(found, x))
  expect_error(sheaf_report(readRDS(file), tempfile()), "another session", class = "sheaf_error")
  sheaf_write_model(found, file)
  expect_match(readLines(file, 1), "sheaf")
})

test_that("the seed comes from R's generator", {
  one <- function(threads) {
    set.seed(5)
    sheaf_search(x, iris$Species, model = "linear", control = list(threads = threads))$scores
  }
  expect_identical(one(1), one(2))
  set.seed(6)
  expect_false(identical(one(1), sheaf_search(x, iris$Species, model = "linear", seed = 77)$scores))
})

test_that("every family is searched", {
  for (model in c("linear", "svm", "elastic-net-logistic", "glm", "knn")) {
    found <- sheaf_search(x, iris$Species, model = model, folds = 3, seed = 1)
    expect_s3_class(found, "sheaf_search")
    expect_gt(mean(predict(found, x) == iris$Species), 0.7)
    expect_output(print(found), "splits")
    expect_identical(levels(predict(found, x)), levels(iris$Species))
  }
  for (model in c("linear", "svm", "ridge", "lasso", "glm", "knn")) {
    found <- sheaf_search(as.matrix(mtcars[, -1]), mtcars$mpg, model = model, folds = 3, seed = 1,
                          prepare = list(scale = "standard"))
    expect_gt(cor(predict(found, as.matrix(mtcars[, -1])), mtcars$mpg), 0.6)
  }
})

test_that("data frames with levels and missing values go through the pipeline", {
  air <- transform(airquality, Month = factor(Month))
  found <- sheaf_search(Ozone ~ ., data = air, model = "ridge", prepare = list(impute = "median", scale = "standard"),
                        seed = 1)
  expect_true(all(is.finite(predict(found, air))))
  expect_true(any(grepl("Month", rownames(coef(found)))))
  expect_names_argument(predict(found, air[, 1:2]), "newdata")
  expect_error(sheaf_search(air[, -1], rep(1:3, 51), model = "knn", prepare = list(impute = "none")),
               class = "sheaf_error")
})

test_that("missing values are filled with medians unless that is turned off", {
  air <- airquality[!is.na(airquality$Ozone), ]
  found <- function(prepare) {
    sheaf_search(air[-1], air$Ozone, model = "ridge", grid = list(alpha = c(1, 10)), prepare = prepare, seed = 1)$scores
  }
  expect_identical(found(list()), found(list(impute = "median", scale = "standard")))
  by_formula <- function(...) {
    sheaf_search(Ozone ~ ., data = air, model = "ridge", grid = list(alpha = 1), predictions = TRUE, seed = 1, ...)
  }
  expect_identical(nrow(by_formula()$predictions), nrow(air))
  expect_identical(nrow(by_formula(prepare = list(impute = "none"))$predictions), nrow(stats::na.omit(air)))
})

# A ring of one class around the other, in noise: no plane divides them.
ring <- function(rows, seed) {
  set.seed(seed)
  angle <- stats::runif(rows, 0, 2 * pi)
  inner <- rep(c(TRUE, FALSE), length.out = rows)
  radius <- ifelse(inner, 1, 2) + stats::rnorm(rows, sd = 0.2)
  list(x = round(cbind(a = radius * cos(angle), b = 100 * radius * sin(angle)), 3),
       y = factor(ifelse(inner, "inner", "outer")))
}

test_that("without a model those that suit the data are compared", {
  data <- ring(160, 1)
  found <- sheaf_search(data$x, data$y, seed = 1)
  models <- found$models
  expect_gt(nrow(models), 2)
  expect_true(all(c("linear", "svm") %in% models$model))
  expect_identical(found$best$model, models$model[1])
  expect_false(found$best$model == "linear")
  expect_equal(found$best_score, models$mean[1])
  expect_false(is.unsorted(-models$mean[!models$dropped]))
  expect_equal(models$difference, models$mean - models$mean[1])
  expect_true(is.na(models$low[1]))
  others <- models[!models$dropped & !is.na(models$low), ]
  expect_true(all(others$low <= others$difference & others$difference <= others$high))
  expect_false(anyNA(found$best))
  new <- ring(200, 2)
  expect_gt(mean(predict(found, new$x) == new$y), 0.9)
  shown <- utils::capture.output(print(found))
  for (model in models$model) expect_true(any(grepl(model, shown, fixed = TRUE)))
  grDevices::pdf(NULL)
  expect_silent(plot(found))
  grDevices::dev.off()
  expect_identical(nrow(tidy(found)), nrow(found$results))
  expect_identical(glance(found)$model, found$best$model)
})

test_that("models by their names are compared on the folds of a search of each", {
  foldid <- rep(1:5, 30)
  found <- sheaf_search(x, iris$Species, model = c("linear", "svm"), foldid = foldid, seed = 1)
  expect_setequal(found$models$model, c("linear", "svm"))
  for (row in which(!found$models$dropped)) {
    alone <- sheaf_search(x, iris$Species, model = found$models$model[row], foldid = foldid, seed = 1)
    expect_equal(found$models$mean[row], max(alone$results$mean))
    expect_null(alone$models)
  }
  expect_identical(levels(predict(found, x)), levels(iris$Species))
  expect_error(sheaf_search(x, iris$Species, model = c("linear", "tree")), "tree", class = "sheaf_error")
})

test_that("options and grids of several models are those of each that has them", {
  foldid <- rep(1:5, 30)
  found <- sheaf_search(x, iris$Species, model = c("linear", "svm"), grid = list(cost = c(0.1, 10), gamma = 0.5),
                        tolerance = 1e-6, foldid = foldid, seed = 1)
  expect_setequal(found$results$cost, c(0.1, 10))
  expect_identical(unique(found$results$gamma[found$results$model == "svm"]), 0.5)
  expect_true(all(is.na(found$results$gamma[found$results$model == "linear"])))
  alone <- sheaf_search(x, iris$Species, model = "linear", grid = list(cost = c(0.1, 10)), tolerance = 1e-6,
                        foldid = foldid, seed = 1)
  linear <- found$results[found$results$model == "linear", ]  # without points that fell behind the other model
  expect_gt(nrow(linear), 0)
  expect_equal(linear$mean, alone$results$mean[match(linear$cost, alone$results$cost)])
  expect_error(sheaf_search(x, iris$Species, model = c("linear", "svm"), k = 3), "k", class = "sheaf_error")
  expect_error(sheaf_search(x, iris$Species, model = "auto", cost = 1), "cost", class = "sheaf_error")
})

test_that("a stack is the mean of its members by their weights", {
  two <- iris$Species == "virginica"
  y <- factor(ifelse(two, "yes", "no"))
  found <- sheaf_search(x, y, model = c("linear", "knn"), grid = list(cost = c(0.1, 1), k = c(3, 9)), stack = 2,
                        outer = 3, seed = 1)
  expect_identical(found$best$model, "stack")
  expect_equal(sum(found$stack$weight), 1)
  expect_true(all(found$stack$weight >= 0))
  expect_match(found$models$model, "^stack of ", all = FALSE)
  shares <- predict(found, x, type = "prob")
  expect_equal(unname(rowSums(shares)), rep(1, nrow(x)))
  expect_gt(mean(predict(found, x) == y), 0.9)
  expect_output(print(found), "weights learnt on held-out predictions")
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(found, file)
  expect_equal(predict(readRDS(file), x, type = "prob"), shares)
  numbers <- sheaf_search(as.matrix(mtcars[, -1]), mtcars$mpg, model = c("ridge", "knn"), stack = 2, seed = 1)
  expect_gt(cor(predict(numbers, as.matrix(mtcars[, -1])), mtcars$mpg), 0.8)
  expect_error(sheaf_search(x, y, model = "linear", stack = 2), "several models", class = "sheaf_error")
})

test_that("numbers are searched without a model, and doubts about the data are warnings", {
  found <- sheaf_search(as.matrix(mtcars[, -1]), mtcars$mpg, outer = 3, seed = 1)
  expect_gt(nrow(found$models), 1)
  expect_identical(nrow(found$outer), 3L)
  expect_true(all(found$outer$model %in% found$models$model))
  expect_output(print(found), "Nested validation")
  expect_gt(cor(predict(found, as.matrix(mtcars[, -1])), mtcars$mpg), 0.8)
  leak <- cbind(x, copy = as.integer(iris$Species))
  expect_warning(sheaf_search(leak, iris$Species, model = "linear", seed = 1), "copy")
  two <- iris$Species != "setosa"
  leak[which(two)[1], "copy"] <- 3
  expect_warning(sheaf_search(leak[two, ], droplevels(iris$Species[two]), model = "linear", seed = 1),
                 "copy alone nearly determines")
})

test_that("doubts about data are found without a search, in R's words", {
  x <- cbind(iris[, 1:4], copy = as.integer(iris$Species), same = 1, gaps = c(rep(-999, 30), iris[31:150, 3]))
  found <- sheaf_findings(x, iris$Species)
  expect_setequal(found$code, c("leak", "missing-codes", "constant-features"))
  expect_identical(found$level[match(c("leak", "constant-features"), found$code)], c("warning", "note"))
  expect_match(found$message[found$code == "leak"], "copy", fixed = TRUE)
  expect_match(found$message[found$code == "missing-codes"], "say missing-codes with that value", fixed = TRUE)
  expect_identical(nrow(sheaf_findings(iris[, 2:3], iris$Sepal.Length)), 0L)
  expect_names_argument(sheaf_findings(iris[, 1:2], 1:3), "y")
})

test_that("options without a model are those of the first kind that has them", {
  found <- sheaf_search(x, iris$Species, grid = list(gamma = c(0.01, 0.1), cost = 1), seed = 1)
  expect_null(found$models)
  expect_true("gamma" %in% names(found$best))
})

test_that("nested validation, predictions and calibration are there", {
  found <- sheaf_search(x, iris$Species, model = "svm", grid = list(cost = c(1, 10), gamma = 0.1), outer = 3, folds = 3,
                        predictions = TRUE, calibrate = "platt", seed = 1)
  expect_identical(nrow(found$outer), 3L)
  expect_true(all(found$outer$accuracy > 0.8))
  expect_setequal(found$predictions$row, 1:150)
  expect_identical(found$predictions$truth, iris$Species[found$predictions$row])
  expect_equal(unname(rowSums(predict(found, x, type = "prob"))), rep(1, 150))
  expect_output(print(found), "Nested validation")
  expect_identical(nrow(tidy(found)), 2L)
  expect_identical(glance(found)$score, "accuracy")
  expect_identical(summary(found)$mean, sort(found$results$mean, decreasing = TRUE))
  grDevices::pdf(NULL)
  expect_silent(plot(found))
  grDevices::dev.off()
  file <- tempfile(fileext = ".html")
  sheaf_report(found, file)
  expect_match(readLines(file, 1), "<!DOCTYPE html>", ignore.case = TRUE)
})

test_that("sparse rows are searched as dense ones", {
  found <- function(x) sheaf_search(x, iris$Species, model = "linear", seed = 1)$scores$accuracy
  expect_close(found(as(x, "CsparseMatrix")), found(x), 1e-12)
})

test_that("groups stay together", {
  groups <- rep(1:10, each = 15)
  found <- sheaf_search(x, iris$Species, model = "knn", groups = groups, folds = 3, predictions = TRUE, seed = 1)
  splits <- tapply(found$predictions$split, groups[found$predictions$row], function(of) length(unique(of)))
  expect_true(all(splits == 1))
})

test_that("a study finds planted features", {
  set.seed(8)
  z <- matrix(rnorm(120 * 30), 120, dimnames = list(NULL, paste0("f", 1:30)))
  y <- factor(z[, 3] - z[, 17] + rnorm(120) / 4 > 0)
  study <- sheaf_study(z, y, resamples = 8, folds = 3, seed = 1, choose = "one-standard-error")
  expect_true(all(c("f3", "f17") %in% names(study$selected)))
  expect_identical(study$features$feature[1:2][order(study$features$index[1:2])], c("f3", "f17"))
  signs <- sign(study$features$mean_weight[match(c("f3", "f17"), study$features$feature), 1])
  expect_identical(signs, c(1, -1))
  expect_true(study$stability[["low"]] <= study$stability[["estimate"]])
  expect_output(print(study), "Stability")
  expect_length(study$stability_by_chance, 0)
  permuted <- sheaf_study(z, y, resamples = 4, folds = 3, seed = 1, permutations = 2)
  expect_length(permuted$stability_by_chance, 2)
  expect_output(print(permuted), "by chance")
  expect_identical(nrow(tidy(study)), nrow(study$features))
  expect_identical(glance(study)$resamples, 8)
  grDevices::pdf(NULL)
  expect_silent(plot(study))
  grDevices::dev.off()
})

test_that("tables of parameters name what can be set", {
  expect_true("svm" %in% sheaf_parameters()$name)
  expect_true(all(c("cost", "gamma") %in% with(sheaf_parameters("svm"), name[searched])))
  expect_true("impute" %in% sheaf_parameters("pipeline")$name)
  expect_true("accuracy" %in% sheaf_metrics()$name)
  expect_identical(sheaf_devices()$device[1], "cpu")
})

test_that("splits by time test later rows than they train on", {
  set.seed(2)
  x <- matrix(rnorm(200), 50)
  y <- x[, 1] + rnorm(50)
  when <- as.Date("2021-01-01") + sample(50)
  found <- sheaf_search(x, y, model = "ridge", split = "time", order = when, folds = 3, test_size = 5, window = 20,
                        gap = 2, predictions = TRUE, seed = 1)
  for (k in 1:3) {
    tested <- found$predictions$row[found$predictions$split == k]
    expect_setequal(tested, order(when)[(50 - (4 - k) * 5) + 1:5])
  }
  expect_error(sheaf_search(x, y, model = "ridge", gap = 2), "split time")
  expect_error(sheaf_search(x, y, model = "ridge", order = letters), "order")
})

test_that("equal rows are kept together and noted", {
  set.seed(3)
  x <- matrix(rnorm(400), 100)[rep(1:100, 2), ]
  y <- factor(rep(sample(c("a", "b"), 100, TRUE), 2))
  found <- sheaf_search(x, y, model = "knn", grid = list(k = 1), predictions = TRUE, seed = 1)
  expect_lt(found$best_score, 0.75)
  expect_true(any(grepl("200 of 200 rows have the same features", found$notes)))
  fold <- found$predictions$split[order(found$predictions$row)]
  expect_identical(fold[1:100], fold[101:200])
  given <- sheaf_search(x, y, model = "knn", grid = list(k = 1), foldid = rep(1:4, each = 50), seed = 1)
  expect_true(any(grepl("given splits train on some of them", given$notes)))
  apart <- sheaf_search(x, y, model = "knn", grid = list(k = 1), equal_rows = "apart", folds = 5, seed = 1)
  expect_gt(apart$best_score, 0.8)
})

test_that("groups that were given are not parted by another split", {
  expect_error(sheaf_search(as.matrix(mtcars[, -1]), mtcars$mpg, model = "ridge", groups = mtcars$cyl, split = "kfold"),
               "both sides of a split")
})
