birth <- MASS::birthwt
x <- model.matrix(bwt ~ age * lwt + factor(race) * smoke + ptl + ht + ui + ftv, birth)[, -1]

expect_like_glmnet <- function(found, expected, tolerance = 1e-4) {
  expect_identical(length(found$lambda), length(expected$lambda))
  expect_close(found$lambda, expected$lambda)
  expect_close(found$beta, expected$beta, tolerance)
  if (is.null(expected$a0)) expect_null(found$a0) else expect_close(found$a0, expected$a0, tolerance)
  expect_close(found$dev.ratio, expected$dev.ratio, tolerance)
  expect_close(found$nulldev, expected$nulldev)
  expect_identical(dimnames(found$beta), dimnames(expected$beta))
  expect_true(all(names(expected) %in% names(found)))
}

test_that("a multinomial path may have one penalty", {
  x <- as.matrix(iris[, 1:4])
  one <- sheaf_net(x, iris$Species, family = "multinomial", lambda = 0.05)
  two <- sheaf_net(x, iris$Species, family = "multinomial", lambda = c(0.1, 0.05))
  expect_identical(dim(one$dfmat), c(3L, 1L))
  expect_close(as.matrix(do.call(cbind, coef(one))), as.matrix(do.call(cbind, coef(two, s = 0.05))), 1e-4)
})

test_that("paths are those of glmnet", {
  for (alpha in c(1, 0.5)) {
    expect_like_glmnet(sheaf_net(x, birth$bwt, alpha = alpha, thresh = 1e-9),
                       glmnet::glmnet(x, birth$bwt, alpha = alpha, thresh = 1e-14))
    expect_like_glmnet(sheaf_net(x, birth$low, "binomial", alpha = alpha, thresh = 1e-9),
                       glmnet::glmnet(x, birth$low, "binomial", alpha = alpha, thresh = 1e-14))
  }
  sets <- list(list(as.matrix(mtcars[, -1]), mtcars$mpg), list(as.matrix(swiss[, -1]), swiss$Fertility),
               list(as.matrix(longley[, -7]), longley$Employed))
  for (set in sets) {
    lambda <- glmnet::glmnet(set[[1]], set[[2]])$lambda
    lambda <- lambda[lambda > 1e-3 * lambda[1]]
    expect_like_glmnet(sheaf_net(set[[1]], set[[2]], lambda = lambda, thresh = 1e-9),
                       glmnet::glmnet(set[[1]], set[[2]], lambda = lambda, thresh = 1e-16, maxit = 1e7))
  }
  pima <- as.matrix(MASS::Pima.tr[, 1:7])
  expect_like_glmnet(sheaf_net(pima, MASS::Pima.tr$type, "binomial", thresh = 1e-9),
                     glmnet::glmnet(pima, MASS::Pima.tr$type, "binomial", thresh = 1e-14))
})

test_that("objectives at the default accuracy are not above those of glmnet", {
  objective <- function(fit, x, y, family) {
    links <- predict(fit, x, s = fit$lambda)
    coefs <- if (family == "multinomial") do.call(rbind, lapply(fit$beta, as.matrix)) else as.matrix(fit$beta)
    losses <- switch(family,
      gaussian = colMeans((y - links)^2) / 2,
      binomial = colMeans(log1p(exp(links)) - y * links),
      poisson = colMeans(exp(links) - y * links),
      multinomial = apply(links, 3, function(z) mean(log(rowSums(exp(z))) - z[cbind(seq_along(y), as.integer(y))]))
    )
    losses + fit$lambda * colSums(abs(coefs))
  }
  x <- scale(x)
  targets <- list(gaussian = birth$bwt / sd(birth$bwt), binomial = birth$low, poisson = birth$ftv,
                  multinomial = factor(birth$race))
  for (family in names(targets)) {
    y <- targets[[family]]
    own <- x[, !grepl(switch(family, multinomial = "race", poisson = "ftv", "none"), colnames(x))]
    expected <- glmnet::glmnet(own, y, family, standardize = FALSE)
    found <- sheaf_net(own, y, family, standardize = FALSE, lambda = expected$lambda)
    above <- objective(found, own, y, family) - objective(expected, own, y, family)
    expect_lt(max(above), 1e-6 * expected$nulldev / nrow(own))
  }
})

test_that("ridge paths are those of glmnet", {
  # glmnet trains the first model of a ridge path at an infinite penalty.
  for (family in c("gaussian", "binomial")) {
    y <- if (family == "gaussian") birth$bwt else birth$low
    lambda <- glmnet::glmnet(x, y, family, alpha = 0)$lambda[c(20, 50, 80)]
    expect_like_glmnet(sheaf_net(x, y, family, alpha = 0, lambda = lambda, thresh = 1e-11),
                       glmnet::glmnet(x, y, family, alpha = 0, lambda = lambda, thresh = 1e-16, maxit = 1e7))
  }
})

test_that("limits of coefficients are those of glmnet", {
  targets <- list(gaussian = birth$bwt, binomial = birth$low, poisson = birth$ftv,
                  cox = survival::Surv(birth$bwt + seq_len(nrow(birth)) / 1000, birth$low))
  factors <- rep(1:2, length.out = ncol(x))
  for (family in names(targets)) {
    y <- targets[[family]]
    lambda <- glmnet::glmnet(x, y, family)$lambda[c(5, 15, 30)]
    size <- max(abs(glmnet::glmnet(x, y, family, lambda = lambda)$beta)) / 3
    for (limits in list(c(0, Inf), c(-size, size / 2), c(-Inf, 0))) {
      expect_like_glmnet(
        sheaf_net(x, y, family, lambda = lambda, lower.limits = limits[1], upper.limits = limits[2],
                  penalty.factor = factors, thresh = 1e-12),
        glmnet::glmnet(x, y, family, lambda = lambda, lower.limits = limits[1], upper.limits = limits[2],
                       penalty.factor = factors, thresh = 1e-14, maxit = 1e7),
        1e-3
      )
    }
  }
  # Of several classes or responses they are those of each. Where coefficients are penalised together glmnet does not
  # find the best ones at limits that are not 0.
  flowers <- as.matrix(iris[1:4])
  several <- list(list(flowers, iris$Species, "multinomial", lower.limits = -0.5, upper.limits = 0.3),
                  list(flowers, iris$Species, "multinomial", lower.limits = 0),
                  list(flowers, iris$Species, "multinomial", lower.limits = 0, type.multinomial = "grouped"),
                  list(flowers[, 1:2], flowers[, 3:4], "mgaussian", upper.limits = 0))
  for (problem in several) {
    both <- function(fit, thresh) {
      do.call(fit, c(problem, list(alpha = 0.7, lambda = c(0.2, 0.05, 0.01), thresh = thresh, maxit = 1e7)))
    }
    expect_close(do.call(cbind, lapply(coef(both(sheaf_net, 1e-12)), as.matrix)),
                 do.call(cbind, lapply(coef(both(glmnet::glmnet, 1e-14)), as.matrix)), 1e-3)
  }
  each <- c(0, rep(-Inf, ncol(x) - 1))
  found <- sheaf_net(x, birth$bwt, lower.limits = each, thresh = 1e-12)
  expect_close(coef(found), coef(glmnet::glmnet(x, birth$bwt, lower.limits = each, thresh = 1e-14)), 1e-3)
  folds <- rep(1:4, length.out = nrow(x))
  # Without penalties that are given cv.glmnet() interpolates between those of each fold.
  cv <- cv_sheaf_net(x, birth$bwt, foldid = folds, lower.limits = 0, thresh = 1e-10, lambda = found$lambda)
  expected <- glmnet::cv.glmnet(x, birth$bwt, foldid = folds, lower.limits = 0, thresh = 1e-14, lambda = found$lambda)
  expect_close(cv$cvm, expected$cvm, 1e-4)
})

test_that("weights, penalty factors, offsets and raw features are those of glmnet", {
  w <- rep(1:3, length.out = nrow(x))
  factors <- c(0, seq_len(ncol(x) - 1))
  expect_like_glmnet(
    sheaf_net(x, birth$low, "binomial", weights = w, standardize = FALSE, penalty.factor = factors, thresh = 1e-12),
    glmnet::glmnet(x, birth$low, "binomial", weights = w, standardize = FALSE, penalty.factor = factors,
                   thresh = 1e-14),
    1e-3
  )
  expect_like_glmnet(sheaf_net(x, birth$bwt, weights = w, intercept = FALSE, thresh = 1e-9, lambda = c(100, 10, 1)),
                     glmnet::glmnet(x, birth$bwt, weights = w, intercept = FALSE, lambda = c(100, 10, 1),
                                    thresh = 1e-14))
  found <- sheaf_net(x, birth$bwt, offset = 10 * birth$lwt)
  expected <- glmnet::glmnet(x, birth$bwt, offset = 10 * birth$lwt, thresh = 1e-14)
  expect_close(coef(found), coef(expected), 1e-4)
  expect_close(predict(found, x, newoffset = 10 * birth$lwt), predict(expected, x, newoffset = 10 * birth$lwt), 1e-5)
  expect_names_argument(predict(found, x), "newoffset")
})

counts <- birth$ftv
without <- x[, colnames(x) != "ftv"]

test_that("paths of counts are those of glmnet", {
  for (alpha in c(1, 0.5)) {
    expect_like_glmnet(sheaf_net(without, counts, "poisson", alpha = alpha, thresh = 1e-10),
                       glmnet::glmnet(without, counts, "poisson", alpha = alpha, thresh = 1e-14))
  }
  w <- rep(1:3, length.out = nrow(x))
  exposure <- log(birth$age)
  found <- sheaf_net(without, counts, "poisson", weights = w, offset = exposure, thresh = 1e-10)
  expected <- glmnet::glmnet(without, counts, "poisson", weights = w, offset = exposure, thresh = 1e-14)
  expect_like_glmnet(found, expected)
  expect_close(predict(found, without, type = "response", newoffset = exposure),
               predict(expected, without, type = "response", newoffset = exposure), 1e-4)
  low <- sheaf_net(x, birth$low, "binomial", offset = birth$lwt / 100, thresh = 1e-10)
  expect_like_glmnet(low, glmnet::glmnet(x, birth$low, "binomial", offset = birth$lwt / 100, thresh = 1e-14))
})

test_that("paths of several classes are those of glmnet", {
  flowers <- as.matrix(iris[, 1:4])
  for (alpha in c(1, 0.5)) {
    found <- sheaf_net(flowers, iris$Species, "multinomial", alpha = alpha, thresh = 1e-10)
    expected <- glmnet::glmnet(flowers, iris$Species, "multinomial", alpha = alpha, thresh = 1e-14, maxit = 1e7)
    expect_close(found$lambda, expected$lambda)
    expect_close(found$a0, expected$a0, 1e-4)
    expect_identical(dimnames(found$a0), dimnames(expected$a0))
    expect_identical(names(found$beta), names(expected$beta))
    for (name in names(found$beta)) {
      expect_close(found$beta[[name]], expected$beta[[name]], 1e-4)
      expect_identical(dimnames(found$beta[[name]]), dimnames(expected$beta[[name]]))
    }
    expect_close(found$dev.ratio, expected$dev.ratio, 1e-4)
    expect_close(found$nulldev, expected$nulldev)
    expect_identical(found$df, expected$df)
    expect_true(all(names(expected) %in% names(found)))
    s <- c(0.1, 0.0123)
    for (type in c("link", "response")) {
      expect_close(as.vector(predict(found, flowers, s = s, type = type)),
                   as.vector(predict(expected, flowers, s = s, type = type)), 1e-3)
      expect_identical(dim(predict(found, flowers, s = s, type = type)), c(150L, 3L, 2L))
    }
    expect_identical(unname(predict(found, flowers, s = s, type = "class")),
                     unname(predict(expected, flowers, s = s, type = "class")))
    for (name in names(found$beta)) expect_close(coef(found, s = s)[[name]], coef(expected, s = s)[[name]], 1e-3)
  }
  table <- generics::tidy(found)
  expect_setequal(unique(table$class), levels(iris$Species))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(found, xvar = "lambda"))
})

test_that("cross-validation of counts and of several classes is that of cv.glmnet", {
  lambda <- c(0.1, 0.01, 0.001)
  flowers <- as.matrix(iris[, 1:4])
  compare <- function(x, y, family, measures) {
    folds <- rep(1:5, length.out = nrow(x))
    for (measure in measures) {
      found <- cv_sheaf_net(x, y, family = family, foldid = folds, type.measure = measure, lambda = lambda,
                            thresh = 1e-10, keep = TRUE)
      expected <- glmnet::cv.glmnet(x, y, family = family, foldid = folds, type.measure = measure, lambda = lambda,
                                    thresh = 1e-14, keep = TRUE, maxit = 1e7)
      expect_close(found$cvm, expected$cvm, 1e-4)
      expect_close(found$cvsd, expected$cvsd, 1e-3)
      expect_identical(found$name, expected$name)
      expect_identical(found$nzero, expected$nzero)
      expect_identical(found$lambda.min, expected$lambda.min)
      expect_close(as.vector(found$fit.preval), as.vector(expected$fit.preval), 1e-3)
    }
  }
  compare(flowers, iris$Species, "multinomial", c("deviance", "class", "mse", "mae"))
  compare(without, counts, "poisson", c("deviance", "mse", "mae"))
  expect_names_argument(cv_sheaf_net(without, counts, family = "poisson", type.measure = "auc"), "type.measure")
})

# Models of several classes or responses, whose coefficients are lists.
expect_like_several <- function(found, expected) {
  expect_close(found$lambda, expected$lambda)
  expect_close(found$a0, expected$a0, 1e-4)
  expect_identical(dimnames(found$a0), dimnames(expected$a0))
  expect_identical(names(found$beta), names(expected$beta))
  for (name in names(found$beta)) expect_close(found$beta[[name]], expected$beta[[name]], 1e-4)
  expect_close(found$dev.ratio, expected$dev.ratio, 1e-4)
  expect_close(found$nulldev, expected$nulldev)
  expect_identical(found$df, as.integer(expected$df))
  expect_true(all(names(expected) %in% names(found)))
}

test_that("grouped multinomial paths are those of glmnet", {
  flowers <- as.matrix(iris[, 1:4])
  for (alpha in c(1, 0.5)) {
    found <- sheaf_net(flowers, iris$Species, "multinomial", alpha = alpha, type.multinomial = "grouped",
                       thresh = 1e-11)
    expected <- glmnet::glmnet(flowers, iris$Species, "multinomial", alpha = alpha, type.multinomial = "grouped",
                               thresh = 1e-14, maxit = 1e7)
    common <- seq_len(min(length(found$lambda), length(expected$lambda)))
    expect_true(found$grouped)
    expect_close(found$lambda[common], expected$lambda[common])
    expect_close(found$dev.ratio[common], expected$dev.ratio[common], 1e-4)
    for (name in names(found$beta)) expect_close(found$beta[[name]][, common], expected$beta[[name]][, common], 1e-3)
    # A feature has coefficients in all classes or in none.
    expect_true(all(found$beta$setosa[, 5] != 0 | found$beta$virginica[, 5] == 0))
  }
  factors <- c(0, 1, 1, 2)
  found <- sheaf_net(flowers, iris$Species, "multinomial", type.multinomial = "grouped", penalty.factor = factors,
                     nlambda = 5, lambda.min.ratio = 0.1)
  expected <- glmnet::glmnet(flowers, iris$Species, "multinomial", type.multinomial = "grouped",
                             penalty.factor = factors, nlambda = 5, lambda.min.ratio = 0.1, thresh = 1e-12,
                             maxit = 1e7)
  expect_close(found$lambda, expected$lambda, 1e-3)
})

test_that("paths of several responses are those of glmnet", {
  responses <- as.matrix(mtcars[, c("mpg", "qsec", "drat")])
  features <- as.matrix(mtcars[, c("cyl", "disp", "hp", "wt", "vs", "am", "gear", "carb")])
  w <- 1 + seq_len(nrow(mtcars)) %% 3
  for (alpha in c(1, 0.4)) {
    for (standardise in c(FALSE, TRUE)) {
      expected <- glmnet::glmnet(features, responses, "mgaussian", alpha = alpha, weights = w, thresh = 1e-16,
                                 standardize.response = standardise)
      found <- function(...) {
        sheaf_net(features, responses, "mgaussian", alpha = alpha, weights = w, thresh = 1e-11,
                  standardize.response = standardise, ...)
      }
      expect_like_several(found(lambda = expected$lambda), expected)
      expect_close(found()$lambda[1:50], expected$lambda[1:50])
    }
  }
  found <- sheaf_net(features, unname(responses), "mgaussian", thresh = 1e-11)
  expect_identical(names(found$beta), c("y1", "y2", "y3"))
  expected <- glmnet::glmnet(features, responses, "mgaussian", thresh = 1e-16)
  s <- c(1, 0.123)
  for (type in c("link", "response")) {
    predicted <- predict(found, features, s = s, type = type)
    expect_identical(dim(predicted), c(32L, 3L, 2L))
    expect_close(as.vector(predicted), as.vector(predict(expected, features, s = s, type = type)), 1e-4)
  }
  expect_close(coef(found, s = s)$y2, coef(expected, s = s)$qsec, 1e-3)
  expect_names_argument(predict(found, features, type = "class"), "type")
  expect_setequal(unique(generics::tidy(found)$response), c("y1", "y2", "y3"))
  folds <- rep_len(1:5, 32)
  for (measure in c("mse", "mae")) {
    ours <- cv_sheaf_net(features, responses, family = "mgaussian", foldid = folds, type.measure = measure,
                         lambda = expected$lambda, thresh = 1e-11)
    theirs <- glmnet::cv.glmnet(features, responses, family = "mgaussian", foldid = folds, type.measure = measure,
                                lambda = expected$lambda, thresh = 1e-14)
    expect_close(ours$cvm, theirs$cvm, 1e-4)
    expect_identical(ours$index, theirs$index)
  }
})

test_that("responses that do not suit are refused", {
  expect_names_argument(sheaf_net(without, counts - 1, "poisson"), "y")
  expect_names_argument(sheaf_net(without, 0 * counts, "poisson"), "y")
  expect_names_argument(sheaf_net(without, factor(birth$race), "poisson"), "y")
  expect_names_argument(sheaf_net(without, rep("a", nrow(x)), "multinomial"), "y")
  expect_names_argument(sheaf_net(without, birth$race, "multinomial", offset = birth$age), "offset")
  expect_names_argument(sheaf_net(without, counts, "cox"), "y")
  expect_names_argument(sheaf_net(without, counts, "mgaussian"), "y")
  expect_names_argument(sheaf_net(without, cbind(counts, NA), "mgaussian"), "y")
  expect_names_argument(sheaf_net(without, cbind(counts, 1)[-1, ], "mgaussian"), "y")
  expect_names_argument(sheaf_net(without, cbind(counts), "mgaussian"), "y")
  expect_names_argument(sheaf_net(without, cbind(counts, birth$age), "mgaussian", offset = birth$age), "offset")
  expect_names_argument(sheaf_net(without, birth$race, "multinomial", type.multinomial = "none"), "type.multinomial")
  expect_names_argument(sheaf_net(without, counts, "tweedie"), "family")
})

test_that("sparse data give the models of dense data", {
  sparse <- as(x, "CsparseMatrix")
  expect_close(coef(sheaf_net(sparse, birth$bwt)), coef(sheaf_net(x, birth$bwt)))
  expect_close(coef(sheaf_net(as(sparse, "RsparseMatrix"), birth$bwt)), coef(sheaf_net(x, birth$bwt)))
  fit <- sheaf_net(x, birth$bwt)
  expect_close(predict(fit, sparse), predict(fit, x))
})

test_that("predictions are those of glmnet, between penalties too", {
  found <- sheaf_net(x, birth$low, "binomial", thresh = 1e-9)
  expected <- glmnet::glmnet(x, birth$low, "binomial", thresh = 1e-14)
  s <- c(0.05, 0.0123, 10, 0)
  for (type in c("link", "response", "coefficients")) {
    expect_close(predict(found, x, s = s, type = type), predict(expected, x, s = s, type = type), 1e-3)
  }
  expect_identical(predict(found, x, s = s[1:2], type = "class"), predict(expected, x, s = s[1:2], type = "class"))
  expect_identical(unname(predict(found, s = 0.05, type = "nonzero")),
                   unname(predict(expected, s = 0.05, type = "nonzero")))
  expect_identical(unname(predict(found, s = s[1:2], type = "nonzero")),
                   unname(predict(expected, s = s[1:2], type = "nonzero")))
})

test_that("cross-validation is that of cv.glmnet", {
  lambda <- glmnet::glmnet(x, birth$low, "binomial")$lambda
  for (type in c("deviance", "class", "auc", "mse", "mae")) {
    set.seed(4)
    found <- cv_sheaf_net(x, birth$low, family = "binomial", type.measure = type, lambda = lambda, nfolds = 5,
                          keep = TRUE)
    set.seed(4)
    expected <- glmnet::cv.glmnet(x, birth$low, family = "binomial", type.measure = type, lambda = lambda,
                                  thresh = 1e-14, nfolds = 5, keep = TRUE)
    expect_close(found$cvm, expected$cvm, 1e-4)
    expect_close(found$fit.preval, expected$fit.preval, 1e-3)
    expect_close(found$cvsd, expected$cvsd, 1e-3)
    expect_equal(found$index, expected$index)
    expect_identical(found$name, expected$name)
    expect_true(all(names(expected) %in% names(found)))
  }
  foldid <- rep(1:6, length.out = nrow(x))
  w <- 1 + (seq_len(nrow(x)) %% 3)
  lambda <- glmnet::glmnet(x, birth$bwt)$lambda
  for (grouped in c(TRUE, FALSE)) {
    found <- cv_sheaf_net(x, birth$bwt, foldid = foldid, weights = w, lambda = lambda, grouped = grouped, keep = TRUE)
    expected <- glmnet::cv.glmnet(x, birth$bwt, foldid = foldid, weights = w, lambda = lambda, grouped = grouped,
                                  keep = TRUE, thresh = 1e-14)
    expect_close(found$cvm, expected$cvm, 1e-5)
    expect_close(found$cvsd, expected$cvsd, 1e-5)
    expect_close(found$fit.preval, expected$fit.preval[, seq_along(lambda)], 1e-5)
    for (s in c("lambda.1se", "lambda.min")) {
      expect_close(coef(found, s = s), coef(expected, s = s), 1e-4)
      expect_close(predict(found, x, s = s), predict(expected, x, s = s), 1e-5)
    }
  }
})

test_that("plots, tables and prints of nets are there", {
  found <- cv_sheaf_net(x, birth$bwt, nfolds = 4)
  grDevices::pdf(NULL)
  expect_silent(plot(found))
  for (xvar in c("norm", "lambda", "dev")) expect_silent(plot(found$glmnet.fit, xvar = xvar, label = TRUE))
  grDevices::dev.off()
  expect_output(print(found), "lambda|Lambda")
  expect_output(print(found$glmnet.fit), "%Dev")
  expect_identical(tidy(found)$lambda, found$lambda)
  expect_identical(glance(found)$lambda.min, found$lambda.min)
  expect_setequal(unique(tidy(found$glmnet.fit)$term[tidy(found$glmnet.fit)$step == 2]),
                  rownames(coef(found$glmnet.fit))[coef(found$glmnet.fit)[, 2] != 0])
  expect_equal(nrow(tidy(found$glmnet.fit, return_zeros = TRUE)), prod(dim(coef(found$glmnet.fit))))
  expect_equal(deviance(found$glmnet.fit)[1], found$glmnet.fit$nulldev)
})

test_that("cross-validations take what sheaf_control() returns", {
  x <- as.matrix(mtcars[, -1])
  folds <- rep(1:4, 8)
  expect_identical(cv_sheaf_net(x, mtcars$mpg, foldid = folds, control = sheaf_control(threads = 1))$cvm,
                   cv_sheaf_net(x, mtcars$mpg, foldid = folds, control = list(threads = 1))$cvm)
})

test_that("offsets of several classes and responses are those of glmnet", {
  flowers <- as.matrix(iris[1:4])
  known <- cbind(sin(1:150), cos(1:150), 0.5)
  for (type in c("ungrouped", "grouped")) {
    found <- sheaf_net(flowers, iris$Species, "multinomial", offset = known, type.multinomial = type, thresh = 1e-10,
                       lambda = c(0.2, 0.1))
    expected <- glmnet::glmnet(flowers, iris$Species, "multinomial", offset = known, type.multinomial = type,
                               thresh = 1e-12, lambda = c(0.2, 0.1))
    expect_close(found$nulldev, expected$nulldev)
    expect_close(found$dev.ratio, expected$dev.ratio, 1e-5)
    expect_close(predict(found, flowers, type = "response", newoffset = known),
                 predict(expected, flowers, type = "response", newoffset = known), 1e-4)
  }
  expect_names_argument(predict(found, flowers), "newoffset")
  expect_names_argument(sheaf_net(flowers, iris$Species, "multinomial", offset = known[, 1:2]), "offset")
  responses <- as.matrix(mtcars[c("mpg", "drat")])
  others <- as.matrix(mtcars[c("wt", "hp", "qsec")])
  known <- cbind(mtcars$cyl, mtcars$gear / 2)
  found <- sheaf_net(others, responses, "mgaussian", offset = known, thresh = 1e-11, lambda = c(1, 0.3))
  expected <- glmnet::glmnet(others, responses, "mgaussian", offset = known, thresh = 1e-14, lambda = c(1, 0.3))
  expect_close(found$dev.ratio, expected$dev.ratio, 1e-5)
  expect_close(predict(found, others, newoffset = known), predict(expected, others, newoffset = known), 1e-5)
})

test_that("family objects with links that nets do not have are refused", {
  x <- as.matrix(mtcars[, -1])
  expect_names_argument(sheaf_net(x, mtcars$am, family = binomial("probit")), "family")
  expect_names_argument(sheaf_net(x, mtcars$carb, family = poisson("identity")), "family")
  expect_names_argument(sheaf_net(x, mtcars$mpg, family = gaussian("log")), "family")
  expect_names_argument(cv_sheaf_net(x, mtcars$am, family = binomial("cloglog")), "family")
  expect_identical(sheaf_net(x, mtcars$am, family = binomial())$beta, sheaf_net(x, mtcars$am, family = "binomial")$beta)
})

test_that("columns are left out as by glmnet", {
  x <- as.matrix(mtcars[, -1])
  factors <- c(2, Inf, rep(1, 7), 0.5)
  theirs <- glmnet::glmnet(x, mtcars$mpg, penalty.factor = factors, exclude = 5, thresh = 1e-14)
  ours <- sheaf_net(x, mtcars$mpg, penalty.factor = factors, exclude = 5, thresh = 1e-12)
  expect_close(ours$lambda[1], theirs$lambda[1])
  expect_identical(dimnames(coef(ours, s = 1)), dimnames(coef(theirs, s = 1)))
  expect_close(coef(ours, s = theirs$lambda[c(5, 20, 40)]), coef(theirs, s = theirs$lambda[c(5, 20, 40)]), 1e-4)
  expect_close(predict(ours, x, s = 0.5), predict(theirs, x, s = 0.5), 1e-4)
  classes <- sheaf_net(x, mtcars$cyl, family = "multinomial", exclude = 1:2)
  expect_true(all(vapply(classes$beta, function(one) all(one[1:2, ] == 0) && nrow(one) == 10, NA)))
  relaxed <- sheaf_net(x, mtcars$mpg, exclude = 1:2, relax = TRUE, maxp = 5)$relaxed
  expect_true(all(relaxed$beta[1:2, ] == 0) && nrow(relaxed$beta) == 10 && any(relaxed$beta != 0))
  cv <- cv_sheaf_net(x, mtcars$mpg, exclude = 1, foldid = rep(1:4, 8))
  plain <- cv_sheaf_net(x[, -1], mtcars$mpg, foldid = rep(1:4, 8))
  expect_close(cv$cvm, plain$cvm)
  expect_equal(nrow(coef(cv)), 11)
  expect_names_argument(sheaf_net(x, mtcars$mpg, exclude = 11), "exclude")
  expect_names_argument(sheaf_net(x, mtcars$mpg, exclude = 1:10), "exclude")
})

test_that("paths end at dfmax and pmax as glmnet's", {
  x <- as.matrix(mtcars[, -1])
  expect_equal(sheaf_net(x, mtcars$mpg, dfmax = 3)$df, glmnet::glmnet(x, mtcars$mpg, dfmax = 3)$df)
  # glmnet counts features too that had a coefficient on the way to a model, but have none in it: orthogonal ones don't.
  x <- qr.Q(qr(scale(x)))
  expect_warning(ours <- sheaf_net(x, mtcars$mpg, pmax = 4), "pmax = 4")
  theirs <- suppressWarnings(glmnet::glmnet(x, mtcars$mpg, pmax = 4))
  expect_equal(ours$df, theirs$df)
})

test_that("exact = TRUE trains at the penalties that are asked for", {
  x <- as.matrix(swiss[, -1])
  ours <- sheaf_net(x, swiss$Fertility, nlambda = 8, thresh = 1e-12)
  theirs <- glmnet::glmnet(x, swiss$Fertility, nlambda = 8, thresh = 1e-14)
  exactly <- coef(theirs, s = 0.7, exact = TRUE, x = x, y = swiss$Fertility)
  expect_close(coef(ours, s = 0.7, exact = TRUE, x = x, y = swiss$Fertility), exactly, 1e-5)
  expect_close(predict(ours, x, s = 0.7, exact = TRUE, x = x, y = swiss$Fertility),
               predict(theirs, x, s = 0.7, exact = TRUE, x = x, y = swiss$Fertility), 1e-5)
  cv <- cv_sheaf_net(x, swiss$Fertility, nlambda = 8, foldid = rep(1:4, length.out = 47), thresh = 1e-12)
  expect_close(coef(cv, s = 0.7, exact = TRUE, x = x, y = swiss$Fertility), exactly, 1e-5)
  expect_gt(max(abs(coef(ours, s = 0.7) - exactly)), 1e-3)
  expect_names_argument(coef(ours, s = 0.7, exact = TRUE), "exact")
  expect_names_argument(predict(ours, x, s = 0.7, extact = TRUE), "extact")
})

test_that("counts and shares of two classes are those of glmnet", {
  x <- as.matrix(mtcars[, c("wt", "hp", "qsec", "drat")])
  y <- cbind(few = mtcars$carb, many = mtcars$gear - 3)
  w <- rep(1:2, 16)
  lambda <- c(0.1, 0.03, 0.005)
  theirs <- glmnet::glmnet(x, y, family = "binomial", weights = w, offset = x[, 1] / 10, thresh = 1e-14)
  ours <- sheaf_net(x, y, family = "binomial", weights = w, offset = x[, 1] / 10, thresh = 1e-12)
  expect_close(ours$lambda[1], theirs$lambda[1])
  expect_close(coef(ours, s = lambda), coef(theirs, s = lambda), 1e-4)
  expect_close(ours$nulldev, theirs$nulldev)
  expect_close(ours$dev.ratio[1:20], theirs$dev.ratio[1:20], 1e-4)
  expect_identical(ours$classnames, theirs$classnames)
  expect_identical(ours$nobs, theirs$nobs)
  shares <- y / rowSums(y)
  for (grouped in c(TRUE, FALSE)) {
    cv <- function(fit, ...) {
      fit(x, shares, family = "binomial", foldid = rep(1:4, 8), lambda = lambda, keep = TRUE, grouped = grouped, ...)
    }
    ours <- cv(cv_sheaf_net, thresh = 1e-12)
    theirs <- cv(glmnet::cv.glmnet, thresh = 1e-14)
    expect_close(ours$cvm, theirs$cvm, 1e-4)
    expect_close(ours$cvsd, theirs$cvsd, 1e-4)
    expect_close(ours$fit.preval, theirs$fit.preval, 1e-4)
  }
  expect_names_argument(sheaf_net(x, -y, family = "binomial"), "y")
})

test_that("scores on other rows are those of glmnet", {
  odd <- seq(1, 149, 2)
  check <- function(x, y, family, measure = NULL) {
    lambda <- c(0.1, 0.03, 0.01)
    rows <- function(y, at) if (is.matrix(y)) y[at, ] else y[at]
    theirs <- glmnet::glmnet(x[odd, ], rows(y, odd), family = family, lambda = lambda, thresh = 1e-14)
    ours <- sheaf_net(x[odd, ], rows(y, odd), family = family, lambda = lambda, thresh = 1e-12)
    expected <- glmnet::assess.glmnet(theirs, newx = x[-odd, ], newy = rows(y, -odd))
    found <- assess_sheaf_net(ours, x[-odd, ], rows(y, -odd))
    expect_setequal(names(found), names(expected))
    for (name in names(expected)) expect_close(found[[name]], expected[[name]], 1e-4)
    list(ours = ours, theirs = theirs)
  }
  x <- as.matrix(iris[, 1:3])
  check(x, iris$Petal.Width, "gaussian")
  check(x, round(10 * iris$Petal.Width), "poisson")
  fits <- check(x, iris$Species, "multinomial")
  wanted <- glmnet::confusion.glmnet(fits$theirs, newx = x[-odd, ], newy = iris$Species[-odd])
  found <- confusion_sheaf_net(fits$ours, x[-odd, ], iris$Species[-odd])
  for (k in 1:3) expect_equal(unclass(found[[k]]), unclass(wanted[[k]]), ignore_attr = TRUE)
  two <- factor(iris$Sepal.Length + rep(c(-0.7, 0, 0.7), 50) > 5.8)
  fits <- check(x[, 2:3], two, "binomial")
  wanted <- glmnet::roc.glmnet(fits$theirs, newx = x[-odd, 2:3], newy = two[-odd], s = 0.01)
  expect_close(roc_sheaf_net(fits$ours, x[-odd, 2:3], two[-odd], s = 0.01), wanted)
  expect_names_argument(assess_sheaf_net(fits$ours, x[-odd, 2:3], iris$Species[-odd]), "newy")
  skip_if_not_installed("survival")
  y <- cbind(time = seq(2, 9, length.out = 150) - 0.01 * iris$Petal.Length, status = rep(c(1, 1, 0), 50))
  check(x, y, "cox")
})

test_that("paths begin beside columns without a penalty where glmnet's do", {
  for (free in list(1, c(2, 5), 3:6)) {
    factors <- replace(rep(1, ncol(x)), free, 0)
    for (family in c("gaussian", "binomial", "poisson")) {
      y <- switch(family, gaussian = birth$bwt, binomial = birth$low, poisson = birth$ftv)
      found <- sheaf_net(x, y, family, penalty.factor = factors, nlambda = 3)
      expected <- glmnet::glmnet(x, y, family, penalty.factor = factors, nlambda = 3)
      expect_close(found$lambda[1], expected$lambda[1], 1e-4)
    }
  }
})

test_that("models differ from their neighbours where nearly all is explained", {
  set.seed(3)
  features <- matrix(rnorm(300 * 20), 300)
  y <- drop(features[, 1:10] %*% rnorm(10, 0, 3)) + rnorm(300) / 100
  found <- sheaf_net(features, y, lambda = 3 * 0.93^(0:99))
  expect_false(any(colSums(abs(found$beta[, -1] - found$beta[, -100])) == 0))
  expected <- glmnet::glmnet(features, y, lambda = found$lambda, thresh = 1e-14)
  off <- colMeans((predict(found, features) - predict(expected, features))^2)
  expect_true(all(off < 1e-4 * colMeans((y - predict(expected, features))^2)))
  folds <- rep(1:5, 60)
  for (thresh in c(1e-4, 1e-9)) {
    found <- cv_sheaf_net(features, y, lambda = found$lambda, foldid = folds, thresh = thresh)
    expected <- glmnet::cv.glmnet(features, y, lambda = found$lambda, foldid = folds, thresh = 1e-14)
    expect_equal(found$lambda.min, expected$lambda.min)
    expect_true(all(abs(found$cvm / expected$cvm - 1) < 5e-3))
    expect_identical(anyDuplicated(found$cvm), 0L)
  }
})
