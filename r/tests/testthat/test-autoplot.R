test_that("plots by ggplot2 show what objects hold", {
  skip_if_not_installed("ggplot2")
  x <- as.matrix(mtcars[, -1])
  drawn <- function(plot) ggplot2::ggplot_build(plot)$data
  path <- sheaf_net(x, mtcars$mpg)
  curves <- drawn(ggplot2::autoplot(path, labels = 4))
  expect_equal(nrow(curves[[1]]), length(path$beta))
  # Curves begin at 0, at the largest penalty; the largest coefficients are named at the smallest.
  expect_true(all(curves[[1]]$y[curves[[1]]$x == max(curves[[1]]$x)] == 0))
  last <- path$beta[, ncol(path$beta)]
  expect_setequal(curves[[2]]$label, names(sort(-abs(last)))[1:4])
  expect_setequal(curves[[2]]$y, last[curves[[2]]$label])
  cv <- cv_sheaf_net(x, mtcars$mpg, nfolds = 4)
  expect_equal(drawn(ggplot2::autoplot(cv))[[2]]$y, rev(unname(cv$cvm)))
  found <- sheaf_search(iris[51:150, 1:4], droplevels(iris$Species[51:150]), model = "svm", predictions = TRUE,
                        seed = 1, grid = list(cost = c(1, 10), gamma = c(0.01, 0.1)))
  expect_equal(nrow(drawn(ggplot2::autoplot(found))[[1]]), 4)
  expect_equal(sum(as.numeric(drawn(ggplot2::autoplot(found, type = "confusion"))[[2]]$label)), 100)
  roc <- drawn(ggplot2::autoplot(found, type = "roc"))[[2]]
  expect_true(all(diff(roc$y) >= -1e-12) && roc$y[101] == 1)
  unkept <- sheaf_search(iris[, 1:4], iris$Species, model = "knn", seed = 1)
  expect_equal(nrow(drawn(ggplot2::autoplot(unkept))[[1]]), 9)  # of 150 rows at most a quarter are neighbours
  study <- sheaf_study(x, mtcars$mpg, resamples = 6, folds = 3, seed = 1)
  expect_equal(nrow(drawn(ggplot2::autoplot(study))[[1]]), nrow(study$features))
  expect_names_argument(ggplot2::autoplot(unkept, type = "confusion"), "object")
})
