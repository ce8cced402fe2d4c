birth <- MASS::birthwt
x <- model.matrix(bwt ~ age * lwt + factor(race) * smoke + ptl + ht + ui + ftv, birth)[, -1]
y <- birth$bwt
n <- nrow(x)
pinball <- function(errors, quantile) errors * (quantile - (errors < 0))
huber <- function(errors, threshold) {
  size <- abs(errors)
  ifelse(size <= threshold, size^2 / 2, threshold * size - threshold^2 / 2)
}
spreads <- function(x, w) {
  w <- w / sum(w)
  sqrt(colSums(w * x^2) - colSums(w * x)^2)
}

test_that("quantile nets reach the least objective, that of quantreg", {
  skip_if_not_installed("quantreg")
  w <- rep(1:3, length.out = n)
  spread <- spreads(x, w)
  factors <- rep(c(1, 2), length.out = ncol(x))
  factors <- factors * ncol(x) / sum(factors)
  for (quantile in c(0.1, 0.5, 0.8)) {
    found <- sheaf_net(x, y, "quantile", quantile = quantile, weights = w, penalty.factor = factors, nlambda = 10,
                       lambda.min.ratio = 0.01)
    expect_identical(found$quantile, quantile)
    for (step in c(1, 3, 6, 10)) {
      # The two rows c e_j and -c e_j of response 0 add c |beta_j| to the sum of losses, whatever the quantile.
      penalties <- diag(sum(w) * found$lambda[step] * factors * spread)
      rows <- rbind(cbind(1, x) * w, cbind(0, penalties), cbind(0, -penalties))
      exact <- suppressWarnings(quantreg::rq.fit.br(rows, c(y * w, rep(0, 2 * ncol(x))), tau = quantile)$coefficients)
      objective <- function(coefficients) {
        sum(w * pinball(y - coefficients[1] - x %*% coefficients[-1], quantile)) / sum(w) +
          found$lambda[step] * sum(factors * spread * abs(coefficients[-1]))
      }
      ours <- coef(found)[, step]
      expect_gte(objective(ours), objective(exact) * (1 - 1e-10))
      expect_lte(objective(ours), objective(exact) + 2e-5 * found$nulldev / sum(w))
    }
  }
})

test_that("Huber nets are where the gradient of their objective is 0", {
  w <- rep(1:3, length.out = n)
  factors <- rep(c(1, 2), length.out = ncol(x))
  factors <- factors * ncol(x) / sum(factors)
  offset <- 5 * birth$lwt
  share <- w / sum(w)
  unit <- sqrt(sum(share * (y - offset - sum(share * (y - offset)))^2))
  for (alpha in c(1, 0.4)) {
    for (standardise in c(TRUE, FALSE)) {
      found <- sheaf_net(x, y, "huber", alpha = alpha, weights = w, offset = offset, penalty.factor = factors,
                         standardize = standardise, nlambda = 10, lambda.min.ratio = 0.01, thresh = 1e-12)
      expect_equal(found$threshold, IQR(rep(y - offset, w)) / 10)
      spread <- if (standardise) spreads(x, w) else rep(1, ncol(x))
      for (step in c(2, 5, length(found$lambda))) {
        errors <- y - predict(found, x, newoffset = offset)[, step]
        slopes <- pmax(pmin(errors, found$threshold), -found$threshold) * w / sum(w)
        beta <- found$beta[, step] * spread
        steep <- colSums(x * slopes) / spread - found$lambda[step] * (1 - alpha) / unit * factors * beta
        bound <- found$lambda[step] * alpha * factors
        used <- beta != 0
        expect_true(any(used))
        expect_lt(abs(sum(slopes)), 1e-6 * found$threshold)
        expect_lt(max(abs(steep[used] - (bound * sign(beta))[used])), 1e-4 * max(bound))
        expect_true(all(abs(steep[!used]) <= bound[!used]))
      }
    }
  }
})

test_that("Huber nets of wide thresholds are those of glmnet", {
  lambda <- c(100, 30, 10)
  for (alpha in c(1, 0.4)) {
    found <- sheaf_net(x, y, "huber", threshold = 1e6, lambda = lambda, alpha = alpha)
    expected <- glmnet::glmnet(x, y, lambda = lambda, alpha = alpha, thresh = 1e-14)
    expect_close(coef(found), coef(expected), 1e-4)
    expect_close(found$dev.ratio, expected$dev.ratio)
    expect_close(2 * found$nulldev, expected$nulldev)
  }
})

test_that("the unit of the response changes nothing but coefficients and penalties", {
  for (family in c("gaussian", "huber", "quantile")) {
    for (alpha in c(0, 0.4, 1)) {
      one <- sheaf_net(x, y, family, alpha = alpha, nlambda = 10, lambda.min.ratio = 0.05)
      other <- sheaf_net(x, 1000 * y, family, alpha = alpha, nlambda = 10, lambda.min.ratio = 0.05)
      expect_equal(other$lambda, one$lambda * if (family == "quantile") 1 else 1000)
      expect_equal(as.matrix(coef(other)), 1000 * as.matrix(coef(one)), tolerance = 1e-4)
      expect_equal(other$dev.ratio, one$dev.ratio, tolerance = 1e-6)
    }
  }
})

test_that("the first penalty leaves no coefficient and the next one does", {
  for (family in c("huber", "quantile")) {
    found <- sheaf_net(x, y, family, nlambda = 20)
    expect_identical(found$df[1], 0L)
    expect_gt(found$df[2], 0)
    beside <- sheaf_net(x, y, family, nlambda = 20, penalty.factor = c(0, rep(1, ncol(x) - 1)), thresh = 1e-5)
    expect_lte(beside$df[1], 2)
    expect_gt(beside$df[3], 1)
  }
})

test_that("the share that is explained is that of the losses", {
  w <- rep(1:3, length.out = n)
  losses <- list(huber = function(errors) huber(errors, 300), quantile = function(errors) pinball(errors, 0.3))
  none <- list(huber = optimize(function(at) sum(w * huber(y - at, 300)), range(y))$minimum,
               quantile = unname(quantile(rep(y, w), 0.3, type = 1)))
  for (family in names(losses)) {
    found <- sheaf_net(x, y, family, weights = w, quantile = 0.3, threshold = 300, nlambda = 5)
    expect_close(found$nulldev, sum(w * losses[[family]](y - none[[family]])), 1e-6)
    expect_close(deviance(found), colSums(w * losses[[family]](y - predict(found, x))), 1e-6)
    plain <- sheaf_net(x, y, family, intercept = FALSE, quantile = 0.3, threshold = 300, nlambda = 5)
    expect_close(plain$nulldev, sum(losses[[family]](y)))
  }
})

test_that("cross-validation scores models that have not seen the rows by their loss", {
  folds <- rep(1:5, length.out = n)
  lambda <- c(0.3, 0.1, 0.03) * sd(y) / 10
  given <- list(huber = list(threshold = 250), quantile = list(quantile = 0.75))
  losses <- list(huber = list(deviance = function(errors) huber(errors, 250)),
                 quantile = list(deviance = function(errors) pinball(errors, 0.75)))
  names <- c(huber = "Huber Loss", quantile = "Pinball Loss")
  for (family in names(given)) {
    scores <- c(losses[[family]], list(mse = function(errors) errors^2, mae = abs))
    at <- if (family == "huber") lambda else lambda / 100
    held_out <- vapply(1:5, function(fold) {
      fit <- do.call(sheaf_net, c(list(x[folds != fold, ], y[folds != fold], family, lambda = at), given[[family]]))
      predicted <- matrix(0, n, 3)
      predicted[folds == fold, ] <- predict(fit, x[folds == fold, ])
      predicted
    }, matrix(0, n, 3))
    errors <- y - apply(held_out, c(1, 2), sum)
    for (measure in names(scores)) {
      cv <- do.call(cv_sheaf_net, c(list(x, y, family = family, foldid = folds, lambda = at, grouped = FALSE,
                                         type.measure = measure, keep = TRUE), given[[family]]))
      expect_close(cv$fit.preval, y - errors, 1e-4)
      expect_close(cv$cvm, colMeans(scores[[measure]](errors)), 1e-4)
      if (measure == "deviance") expect_identical(cv$name, c(deviance = names[[family]]))
    }
    default <- do.call(cv_sheaf_net, c(list(x, y, family = family, foldid = folds, lambda = at), given[[family]]))
    expect_identical(default$name, c(deviance = names[[family]]))
    expect_identical(dim(coef(default, s = "lambda.min")), c(ncol(x) + 1L, 1L))
  }
})

test_that("relaxed Huber nets have no penalty", {
  found <- sheaf_net(x, y, "huber", relax = TRUE, nlambda = 5)
  predicted <- predict(found, x, s = found$lambda[3], gamma = 0)[, 1]
  slopes <- pmax(pmin(y - predicted, found$threshold), -found$threshold)
  used <- found$relaxed$beta[, 3] != 0
  expect_lt(max(abs(cor(slopes, x[, used]))), 1e-4)
  cv <- cv_sheaf_net(x, y, family = "huber", relax = TRUE, foldid = rep(1:4, length.out = n), nlambda = 5)
  expect_true(cv$relaxed$lambda.min %in% cv$lambda)
})

test_that("sparse data, predictions, plots and tables of Huber and quantile nets are there", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (family in c("huber", "quantile")) {
    found <- sheaf_net(x, y, family, nlambda = 10)
    expect_close(coef(sheaf_net(as(x, "CsparseMatrix"), y, family, nlambda = 10)), coef(found), 1e-4)
    expect_identical(predict(found, x, type = "response"), predict(found, x))
    expect_identical(lengths(predict(found, type = "nonzero")), unname(found$df), ignore_attr = TRUE)
    expect_names_argument(predict(found, x, type = "class"), "type")
    expect_output(print(found), "%Dev")
    expect_silent(plot(found, xvar = "lambda"))
    expect_identical(glance(found)$nobs, n)
    expect_true(all(tidy(found)$lambda %in% found$lambda))
    cv <- cv_sheaf_net(x, y, family = family, nfolds = 4, nlambda = 10)
    expect_silent(plot(cv))
    expect_output(print(cv), if (family == "huber") "Huber Loss" else "Pinball Loss")
  }
})

test_that("searches and studies choose Huber and quantile nets by their scores", {
  scores <- c("elastic-net-huber" = "mean_absolute_error", "elastic-net-quantile" = "mean_pinball_loss")
  for (model in names(scores)) {
    found <- sheaf_search(x, y, model = model, folds = 3, grid = list(alpha = c(1, 0.1)), standardise = TRUE, seed = 1)
    expect_identical(found$score, scores[[model]])
    study <- sheaf_study(x, y, model = model, resamples = 2, folds = 3, grid = list(alpha = c(1, 0.1)), seed = 1)
    expect_identical(study$score, scores[[model]])
    plain <- sheaf_study(x, y, model = model, resamples = 2, folds = 3, grid = list(alpha = c(1, 0.1)), seed = 1,
                         standardise = TRUE)
    expect_identical(study$features, plain$features)
  }
})

test_that("what Huber and quantile nets do not take is refused", {
  for (wrong in list(0, 1, -1, NA, "half", c(0.1, 0.9))) {
    expect_names_argument(sheaf_net(x, y, "quantile", quantile = wrong), "quantile")
  }
  for (wrong in list(0, -1, Inf, "wide")) {
    expect_names_argument(sheaf_net(x, y, "huber", threshold = wrong), "threshold")
  }
  expect_names_argument(sheaf_net(x, rep(0:1, c(n - 5, 5)), "huber"), "threshold")
  expect_names_argument(sheaf_net(x, factor(birth$race), "huber"), "y")
  expect_names_argument(sheaf_net(x, rep(3, n), "quantile"), "y")
  expect_names_argument(sheaf_net(x, y, "quantile", relax = TRUE), "relax")
  expect_names_argument(cv_sheaf_net(x, y, family = "quantile", relax = TRUE), "relax")
  expect_names_argument(cv_sheaf_net(x, y, family = "quantile", type.measure = "auc"), "type.measure")
})
