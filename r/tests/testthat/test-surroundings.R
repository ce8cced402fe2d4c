test_that("work is interrupted within 0.3 s", {
  skip_on_os("windows")
  set.seed(1)
  n <- 3000
  x <- matrix(rnorm(n * 60), n)
  y <- factor(rnorm(n) + x[, 1] > 0)
  stopped <- NULL
  # A search that would take minutes; the interrupt comes from outside, as a user's does.
  system(paste0("sh -c 'sleep 1; date +%s.%N > ", file <- tempfile(), "; kill -INT ", Sys.getpid(), "'"), wait = FALSE)
  tryCatch(
    sheaf_search(x, y, model = "svm", grid = list(cost = 10^(0:5), gamma = 10^(-4:1)), folds = 10, strategy = "grid",
                 seed = 1),
    interrupt = function(condition) stopped <<- Sys.time()
  )
  expect_false(is.null(stopped))
  sent <- as.numeric(readLines(file))
  message("interrupt answered after ", format(as.numeric(stopped) - sent, digits = 2), " s")
})

test_that("progress is reported to a function", {
  stages <- character()
  done <- numeric()
  listen <- function(stage, now, total) {
    stages <<- c(stages, stage)
    done <<- c(done, now)
  }
  set.seed(2)
  x <- matrix(rnorm(2000 * 40), 2000)
  y <- factor(rnorm(2000) + x[, 1] > 0)
  sheaf_search(x, y, model = "svm", grid = list(cost = c(1, 10, 100), gamma = c(0.001, 0.01, 0.1)), seed = 1,
               control = list(progress = listen))
  expect_gt(length(stages), 0)
  expect_true(any(nzchar(stages)))
})

test_that("an error of the function that hears of progress ends the work", {
  x <- matrix(rnorm(3000 * 40), 3000)
  y <- factor(rnorm(3000) > 0)
  expect_error(sheaf_search(x, y, model = "svm", grid = list(cost = 10^(0:4), gamma = 10^(-3:1)), seed = 1,
                            control = list(progress = function(...) stop("enough"))), "enough")
})

test_that("float data give nearly the same models", {
  x <- as.matrix(mtcars[, -1])
  single <- coef(sheaf_glm(x[, 1:3], mtcars$mpg, control = list(precision = "float")))
  expect_close(single, coef(sheaf_glm(x[, 1:3], mtcars$mpg)), 1e-3)
})

test_that("tables of broom's generics are there", {
  fit <- sheaf_glm(am ~ wt, data = mtcars, family = binomial)
  expected <- coef(summary(fit))
  table <- tidy(fit, conf.int = TRUE)
  expect_identical(table$term, rownames(expected))
  expect_equal(table$p.value, unname(expected[, 4]))
  expect_equal(table$conf.low, unname(confint(fit)[, 1]))
  expect_equal(glance(fit)$AIC, AIC(fit))
  added <- augment(fit, mtcars, type.predict = "response")
  expect_equal(added$.fitted, unname(fitted(fit)))
  expect_equal(augment(fit, newdata = mtcars[1:3, ])$.fitted, unname(predict(fit, mtcars[1:3, ])))
  species <- sheaf_glm(Species ~ Sepal.Width, data = iris)
  expect_identical(nrow(tidy(species)), 4L)
  expect_identical(tidy(species)$y.level[1:2], levels(iris$Species)[2:3], ignore_attr = TRUE)
  expect_identical(augment(species)$.fitted, predict(species))
})

test_that("a bar is shown where it is wanted", {
  skip_if_not_installed("cli")
  expect_null(sheaf_control(progress = FALSE)$progress)
  show <- sheaf_control(progress = TRUE)$progress
  expect_null(show("", 0, 0))
  for (done in 0:2) expect_null(suppressMessages(show("training", done, 2)))
  expect_null(suppressMessages(show("scoring", 1, 0)))
  before <- options(sheaf.threads = 1)
  expect_identical(sheaf_control()$settings[2, 2], "1")
  options(before)
})

test_that("forked processes train too", {
  skip_on_os("windows")
  x <- as.matrix(iris[, 1:4])
  alone <- sheaf_svm(x, iris$Species)$decision.values
  apart <- parallel::mclapply(1:2, function(i) sheaf_svm(x, iris$Species)$decision.values, mc.cores = 2)
  expect_identical(apart, list(alone, alone))
})

test_that("controls and datasets print as summaries", {
  expect_output(print(sheaf_control(threads = 2)), "device +auto\n +threads +2\n +memory")
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  writeLines(c("a,b,label", "1,2,x", "3,4,y", "5,6,x"), file)
  expect_output(print(sheaf_read(file)), "3 rows and 2 columns\n  x: a, b\n  y: 2 classes: x \\(2\\), y \\(1\\)")
})

test_that("defaults of functions without a peer are those of the parameter table", {
  same <- function(f, kind, options) {
    table <- sheaf_parameters(kind)
    for (argument in names(options)) {
      default <- eval(formals(f)[[argument]])
      wanted <- table$default[table$name == options[[argument]]]
      if (is.logical(default)) default <- c("no", "yes")[default + 1]
      expect_identical(as.character(default), wanted, info = paste(kind, argument))
    }
  }
  same(sheaf_percolator, "percolator", c(test_fdr = "fdr", train_fdr = "train-fdr", iterations = "iterations",
                                         proteins = "proteins"))
  same(sheaf_select, "select", c(k = "count", criterion = "criterion"))
  same(sheaf_neighbors, "neighbors", c(k = "k", include_self = "include-self"))
  same(sheaf_neighbors, "distance", c(metric = "metric"))
  same(sheaf_knn.default, "knn", c(k = "k"))
  same(sheaf_glm.default, "glm", c(alpha = "alpha", power = "power", maxit = "max-iterations", intercept = "intercept"))
  same(sheaf_study, "search", c(folds = "folds", min_frequency = "min-frequency", test_fraction = "outer-fraction",
                                permutations = "stability-permutations"))
  same(sheaf_search.default, "search", c(predictions = "predictions"))
})

test_that("the news are of this version", {
  expect_identical(as.character(utils::news(package = "sheaf")$Version[1]),
                   as.character(utils::packageVersion("sheaf")))
})
