# Pictures are compared with those in _snaps/plots. Results are rounded before they are drawn, so that the last bits of
# another processor change nothing.
skip_if_not_installed("vdiffr")

rounded <- function(object) rapply(object, function(x) signif(x, 3), classes = "numeric", how = "replace")

test_that("base plots look as before", {
  x <- as.matrix(mtcars[, -1])
  path <- sheaf_net(x, mtcars$mpg, lambda = c(3, 1, 0.3, 0.1))
  path$beta@x <- signif(path$beta@x, 3)
  path[c("lambda", "dev.ratio")] <- rounded(unclass(path)[c("lambda", "dev.ratio")])
  vdiffr::expect_doppelganger("path over lambda", function() plot(path, xvar = "lambda", label = TRUE))
  vdiffr::expect_doppelganger("path over the norm", function() plot(path))
  cv <- cv_sheaf_net(x, mtcars$mpg, lambda = c(3, 1, 0.3, 0.1), foldid = rep(1:4, 8))
  parts <- c("cvm", "cvsd", "cvup", "cvlo", "lambda.min", "lambda.1se")
  cv[parts] <- rounded(unclass(cv)[parts])
  vdiffr::expect_doppelganger("cross-validation", function() plot(cv))
  vdiffr::expect_doppelganger("digits", function() plot_digits(digits$x[1:4, ], digits$y[1:4]))
  vdiffr::expect_doppelganger("weights", function() plot_digits(digits$x[1:2, ] - digits$x[3:4, ], columns = 2))
})

test_that("plots by ggplot2 look as before", {
  skip_if_not_installed("ggplot2")
  found <- sheaf_search(iris[51:150, 1:4], droplevels(iris$Species[51:150]), model = "knn", predictions = TRUE,
                        foldid = rep(1:5, 20), grid = list(k = c(1, 5, 9)), prepare = list(scale = "none"))
  found$results <- rounded(found$results)
  vdiffr::expect_doppelganger("scores", function() plot(found))
  vdiffr::expect_doppelganger("scores by ggplot2", ggplot2::autoplot(found))
  vdiffr::expect_doppelganger("confusion matrix", ggplot2::autoplot(found, type = "confusion"))
})
