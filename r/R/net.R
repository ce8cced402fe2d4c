#' Elastic nets
#'
#' A path of linear models with an L1 and an L2 penalty, as `glmnet::glmnet()` trains it, with the same arguments and an
#' object of the same elements.
#'
#' @details
#' The objective is glmnet's: `1 / (2 n) * sum of squares` (gaussian), `1 / n * sum of losses` (huber and quantile) or
#' `1 / n * minus log-likelihood` (others; cox: the partial one, ties by Breslow), plus
#' `lambda * sum(penalty.factor * (alpha * abs(beta) + (1 - alpha) / 2 * beta^2 / s))`, with penalties on the scale of
#' standardised features where `standardize` is `TRUE`. `s` is the standard deviation of the response (gaussian, huber
#' and quantile; without an intercept from 0), so that nothing depends on its unit, and 1 for others. Coefficients are
#' those of the features as they are. Of several responses (mgaussian), and of classes with `type.multinomial =
#' "grouped"`, `abs(beta)` is the length of a feature's coefficients in all of them, so that a feature has some in all
#' or in none.
#'
#' Each model is trained until no coefficients can have an objective that is lower by more than `thresh` times its
#' deviance (the duality gap). A path that was not given ends where glmnet's does: where
#' 99.9 % of the deviance are explained, or where another step explains hardly more (mgaussian: near there; quantile,
#' and with a limit of 0: it goes on). The deviance of the families huber and quantile is the sum of losses; `thresh` is
#' a share of twice their mean.
#'
#' With r for what the response is above the prediction, the loss of huber is `r^2 / 2` up to the threshold of `abs(r)`
#' and `threshold * abs(r) - threshold^2 / 2` beyond; that of quantiles is `quantile * r` of positive r and
#' `(quantile - 1) * r` of others. These are hqreg's methods: `threshold` is its `gamma`, `quantile` its `tau`. At the
#' lasso, `lambda` of huber is hqreg's times the threshold. The corner of the loss of quantiles is rounded, which costs
#' half of `thresh`. Their paths are short and `thresh` is 1e-05, for small penalties and small corners take long.
#'
#' Cox models take the times of `survival::Surv(start, stop, event)` too, and strata by `glmnet::stratifySurv()`.
#' [sheaf_glm()] has more families with a ridge penalty. Where times tie, glmnet's paths of Cox models depend on the
#' order of rows, and these do not.
#'
#' With `relax = TRUE` there is a relaxed model at each penalty: one without a penalty, of the features that have a
#' coefficient there (in some class). Each set of features is trained once. Penalties with more than `maxp` features
#' have no relaxed model; predictions take that of the last penalty that has one. Coefficients that the data do not
#' determine, and classes that the features separate, give a warning. `predict()`, `coef()` and `plot()` take `gamma`,
#' the share of the penalised model in a mixture of both: 1 is the elastic net, 0 the relaxed model.
#'
#' @param x a matrix, sparse matrix (`dgCMatrix`) or data frame of numbers.
#' @param y numbers (gaussian, huber, quantile); a factor of two levels, numbers of two values, or two columns of counts
#'   or shares of each class (binomial), of which coefficients speak for the second; numbers of 0 or more (poisson); a
#'   factor (multinomial); a `survival::Surv()` or two columns, `time` and `status` (cox); a matrix of numbers, one
#'   column for each response (mgaussian).
#' @param family `"gaussian"`, `"binomial"`, `"poisson"`, `"multinomial"`, `"cox"`, `"mgaussian"`, `"huber"` (outliers
#'   count less) or `"quantile"`.
#' @param weights how much each row counts; `NULL`: 1.
#' @param offset added to the linear predictor; of several classes or responses a matrix with a column for each.
#' @param alpha the share of the L1 penalty: 1 is the lasso, 0 ridge regression.
#' @param nlambda how many penalties, where `lambda` is not given.
#' @param lambda.min.ratio the smallest of those as a share of the largest; default 0.01 where there are more columns
#'   than rows, else 1e-4; quantile: 0.05, as in hqreg.
#' @param lambda penalties; `NULL`: from the smallest that leaves no coefficients downwards.
#' @param standardize whether to penalise features as if their standard deviations were 1.
#' @param intercept whether models have an intercept; Cox models have none.
#' @param thresh the duality gap at which training ends, as a share of the deviance of the model (quantile: of the model
#'   without features); 1e-09 leaves coefficients right to about 1e-5 of the largest.
#' @param penalty.factor one of 0 or more for each column; scaled to a mean of 1, as in glmnet. `Inf`: the column is
#'   left out, as by `exclude`.
#' @param exclude numbers of columns to leave out: their coefficients are 0.
#' @param dfmax,pmax where a path that was not given ends: at the first penalty, from the fifth on, with more than
#'   `dfmax` features, and before the first by which more than `pmax` features have had a coefficient, with a warning.
#' @param lower.limits,upper.limits between which coefficients stay: numbers of 0 or less, and of 0 or more, one for
#'   each column or one for all; of several classes or responses in each of them.
#' @param maxit most passes over the features of one model.
#' @param type.multinomial `"grouped"`: a feature has coefficients in all classes or in none.
#' @param standardize.response mgaussian: whether to divide each response by its standard deviation first.
#' @param quantile quantile: which one is predicted; 0.5 is the median.
#' @param threshold huber: errors up to it count by their squares, larger ones by their size; `NULL`: a tenth of the
#'   interquartile range of `y`, rows counting by their weights.
#' @param relax whether to add relaxed models; not for quantiles.
#' @param maxp most features of a relaxed model; `NULL`: the number of rows less 3.
#' @param control see [sheaf_control()].
#' @return An object of class `sheaf_net` with the elements of a `glmnet` object: `a0`, `beta`, `df`, `dim`, `lambda`,
#'   `dev.ratio`, `nulldev`, `npasses`, `jerr`, `offset`, `classnames` (binomial, multinomial), `nobs`, `call`.
#'   Multinomial and mgaussian: `a0` has a row and `beta` a matrix for each class or response, `dfmat` the numbers of
#'   coefficients of each, `grouped` is whether penalties are (multinomial). Cox: `a0` is `NULL`. Huber and quantile
#'   have their `threshold` or `quantile`. With `relax` it is a `sheaf_relaxed` too, and its element `relaxed` a
#'   `sheaf_net` of the relaxed models.
#' @seealso [cv_sheaf_net()], [predict.sheaf_net()]
#' @examples
#' fit <- sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg)
#' plot(fit, xvar = "lambda")
#' coef(fit, s = 0.5)
#'
#' relaxed <- sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg, relax = TRUE)
#' coef(relaxed, s = 0.5, gamma = 0)
#'
#' upper <- sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg, family = "quantile", quantile = 0.9)
#' mean(mtcars$mpg <= predict(upper, as.matrix(mtcars[, -1]), s = 0.1))
#' @export
sheaf_net <- function(x, y, family = c("gaussian", "binomial", "poisson", "multinomial", "cox", "mgaussian", "huber",
                                       "quantile"),
                      weights = NULL, offset = NULL, alpha = 1, nlambda = 100,
                      lambda.min.ratio = if (identical(family, "quantile")) 0.05 else if (nrow(x) < ncol(x)) 0.01
                      else 1e-04,
                      lambda = NULL, standardize = TRUE, intercept = TRUE,
                      thresh = if (identical(family, "quantile")) 1e-05 else 1e-06,
                      penalty.factor = rep(1, ncol(x)), exclude = NULL, dfmax = ncol(x) + 1,
                      pmax = min(dfmax * 2 + 20, ncol(x)), lower.limits = -Inf, upper.limits = Inf, maxit = 1e+05,
                      type.multinomial = c("ungrouped", "grouped"), standardize.response = FALSE, quantile = 0.5,
                      threshold = NULL, relax = FALSE, maxp = NULL, control = list()) {
  call <- match.call()
  x <- as_features(x)
  check_maxp(maxp)
  force(lambda.min.ratio)
  counts <- read_counts(x, y, family, weights, offset)
  if (!is.null(counts)) x <- x[counts$rows, , drop = FALSE]
  problem <- net_problem(x, counts$y %||% y, family, counts$weights %||% weights, counts$offset %||% offset, alpha,
                         standardize, intercept, thresh, penalty.factor, maxit, type.multinomial,
                         standardize.response, control)
  problem$saturated <- counts$saturated
  problem <- with_limits(problem, lower.limits, upper.limits, ncol(x))
  problem <- with_loss(problem, quantile, threshold)
  problem <- with_sizes(problem, dfmax, pmax)
  check_relax(relax, problem$family)
  problem <- without_columns(problem, x, exclude, penalty.factor)
  used <- used_columns(problem, x)
  lambda <- net_lambda(problem, used, lambda, nlambda, lambda.min.ratio)
  fit <- train_path(problem, used, lambda)
  fit$call <- call
  if (relax) fit <- relax_path(problem, used, fit, maxp)
  fit$nobs <- counts$nobs %||% fit$nobs
  restore_columns(problem, fit)
}

#' @export
print.sheaf_net <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat("\nCall: ", deparse(x$call), "\n\n")
  table <- data.frame(Df = x$df, `%Dev` = round(x$dev.ratio * 100, 2), Lambda = signif(x$lambda, digits),
                      check.names = FALSE, row.names = seq_along(x$df))
  print(table)
  invisible(x)
}

#' @export
nobs.sheaf_net <- function(object, ...) object$nobs

#' @export
deviance.sheaf_net <- function(object, ...) (1 - object$dev.ratio) * object$nulldev

#' Plot the path of an elastic net
#'
#' @param x a [sheaf_net()].
#' @param xvar what the path is drawn over: the L1 norm, the logarithm of lambda, or the share of the deviance.
#' @param label whether to number the curves.
#' @param ... passed on to [graphics::matplot()].
#' @return Nothing; called for its plot.
#' @examples
#' plot(sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg), label = TRUE)
#' @export
plot.sheaf_net <- function(x, xvar = c("norm", "lambda", "dev"), label = FALSE, ...) {
  xvar <- one_of(xvar, c("norm", "lambda", "dev"), "xvar")
  if (!has_several(x$family)) return(plot_path(x, x$beta, x$df, xvar, label, "Coefficients", ...))
  for (name in names(x$beta)) {
    plot_path(x, x$beta[[name]], x$dfmat[name, ], xvar, label, paste("Coefficients: Response", name), ...)
  }
  invisible(x)
}

plot_path <- function(x, beta, df, xvar, label, ylab, ...) {
  used <- rowSums(beta != 0) > 0
  if (!any(used)) {
    warning("no feature has a coefficient: there is nothing to plot", call. = FALSE)
    return(invisible(x))
  }
  beta <- t(as.matrix(beta[used, , drop = FALSE]))
  along <- switch(xvar, norm = rowSums(abs(beta)), lambda = log(x$lambda), dev = x$dev.ratio)
  title <- switch(xvar, norm = "L1 Norm", lambda = "Log Lambda", dev = "Fraction Deviance Explained")
  graphics::matplot(along, beta, type = "l", lty = 1, xlab = title, ylab = ylab, ...)
  marks <- pretty(along)
  counts <- stats::approx(along, df, marks, rule = 2, ties = mean, method = "constant")$y
  graphics::axis(3, at = marks, labels = counts, tick = FALSE, line = -0.5)
  if (label) {
    last <- length(along)
    graphics::text(along[last], beta[last, ], which(used), cex = 0.5, pos = if (xvar == "lambda") 2 else 4)
  }
  invisible(x)
}
