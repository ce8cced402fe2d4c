# I(A;B) in bits of two lists of states.
information <- function(a, b) {
  joint <- table(a, b) / length(a)
  expected <- outer(rowSums(joint), colSums(joint))
  sum((joint * log2(joint / expected))[joint > 0])
}

# The greedy choice by joint mutual information, written down as it is defined.
naive_jmi <- function(states, y, k) {
  chosen <- which.max(vapply(states, information, 0, y))
  while (length(chosen) < k) {
    score <- vapply(states, function(state) {
      sum(vapply(states[chosen], function(other) information(paste(state, other), y), 0))
    }, 0)
    score[chosen] <- -Inf
    chosen <- c(chosen, which.max(score))
  }
  unname(chosen)
}

test_that("selection is joint mutual information on states", {
  data <- data.frame(lapply(MASS::birthwt[, c("age", "lwt", "race", "smoke", "ptl", "ht", "ui", "ftv")], factor))
  found <- sheaf_select(data, factor(MASS::birthwt$low), k = 5)
  expect_identical(unname(found$selection), naive_jmi(data, MASS::birthwt$low, 5))
  expect_identical(names(found$selection), names(data)[found$selection])
  expect_close(found$relevance[1], information(data[[found$selection[1]]], MASS::birthwt$low))
  expect_output(print(found), "jmi")
})

test_that("all criteria select", {
  for (criterion in sheaf_criteria()$name) {
    found <- suppressMessages(sheaf_select(iris[, 1:4], iris$Species, k = 2, criterion = criterion, bins = 8))
    expect_true(length(found$selection) >= 1)
  }
  expect_error(sheaf_select(iris[, 1:4], iris$Species, criterion = "none"), "jmi", class = "sheaf_error")
})

test_that("ensembles and numeric targets are there", {
  found <- sheaf_select(iris[, 1:4], iris$Species, k = 2, bins = 8, resamples = 6, seed = 3)
  expect_true(all(found$frequency > 0 & found$frequency <= 1))
  expect_true(is.numeric(found$stability))
  expect_length(sheaf_select(as.matrix(mtcars[, -1]), mtcars$mpg, k = 3, bins = 4, target_bins = 3)$selection, 3)
  sparse <- as(as.matrix(iris[, 1:4]), "CsparseMatrix")
  expect_identical(unname(sheaf_select(sparse, iris$Species, k = 3, bins = 8)$selection),
                   unname(sheaf_select(iris[, 1:4], iris$Species, k = 3, bins = 8)$selection))
})

test_that("the number of bins follows rows and classes", {
  expect_identical(sheaf_select(iris[, 1:4], iris$Species, k = 2)$bins, 3L)
  expect_identical(sheaf_select(iris[, 1:4], iris$Species, k = 2, bins = 8)$bins, 8L)
  expect_true(is.na(sheaf_select(iris[, 1:4], iris$Species, k = 2, binning = "mdlp")$bins))
  found <- sheaf_search(as.matrix(iris[, 1:4]), iris$Species, prepare = list(select = "jmi:2"), seed = 1)
  expect_match(found$notes, "3 bins of equal width", all = FALSE)
  other <- sheaf_search(as.matrix(iris[, 1:4]), iris$Species, seed = 1,
                        prepare = list(select = "jmi:2", bins = 5, binning = "equal-frequency"))
  expect_false(any(grepl("bins of equal", other$notes)))
})

test_that("stability is compared with chance", {
  found <- sheaf_select(iris[, 1:4], iris$Species, k = 2, resamples = 4, permutations = 2, seed = 3)
  expect_length(found$stability_by_chance, 2)
})

test_that("distances are those of dist", {
  for (metric in c("euclidean", "manhattan")) {
    expect_close(sheaf_distances(mtcars, metric = metric), dist(mtcars, metric), 1e-12)
  }
  expect_close(sheaf_distances(mtcars, metric = "chebyshev"), dist(mtcars, "maximum"), 1e-12)
  expect_close(sheaf_distances(mtcars, metric = "minkowski", power = 4), dist(mtcars, "minkowski", p = 4), 1e-12)
  expect_s3_class(sheaf_distances(mtcars), "dist")
  full <- as.matrix(dist(mtcars))
  expect_close(sheaf_distances(mtcars[1:4, ], mtcars[5:32, ]), full[1:4, 5:32], 1e-12)
  expect_identical(dimnames(sheaf_distances(mtcars[1:4, ], mtcars[5:32, ])), dimnames(full[1:4, 5:32]))
  weights <- c(4, rep(1, 10))
  doubled <- transform(mtcars, mpg = 2 * mpg)
  expect_close(sheaf_distances(mtcars, feature_weights = weights), dist(doubled), 1e-12)
})

test_that("distances of many rows are the same in blocks", {
  set.seed(1)
  z <- matrix(rnorm(300 * 3), 300)
  expect_close(sheaf_distances(z), dist(z), 1e-12)
})

test_that("neighbours are the nearest rows", {
  full <- as.matrix(dist(mtcars))
  diag(full) <- Inf
  found <- sheaf_neighbors(mtcars, k = 4)
  expect_equal(unname(found$index), unname(t(apply(full, 1, order))[, 1:4]))
  expect_close(found$distance, t(apply(full, 1, sort))[, 1:4], 1e-12)
  queries <- sheaf_neighbors(mtcars[1:20, ], k = 1, queries = mtcars[1:3, ])
  expect_equal(as.vector(queries$index), 1:3)
  expect_equal(as.vector(sheaf_neighbors(mtcars, k = 1, include_self = TRUE)$index), 1:32)
  expect_names_argument(sheaf_neighbors(mtcars, queries = mtcars[, 1:3]), "queries")
})
