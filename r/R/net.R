#' Elastic nets
#'
#' A path of linear models with an L1 and an L2 penalty, as `glmnet::glmnet()` trains it, with the same arguments and an
#' object of the same elements.
#'
#' @details
#' The objective is glmnet's: `1 / (2 n) * sum of squares` (gaussian; the response is divided by its standard deviation
#' first, as glmnet does) or `1 / n * minus log-likelihood` (binomial), plus
#' `lambda * sum(penalty.factor * (alpha * abs(beta) + (1 - alpha) / 2 * beta^2))`, with penalties on the scale of
#' standardised features where `standardize` is `TRUE`. Coefficients are those of the features as they are.
#'
#' Each model is trained until no coefficients can have an objective that is lower by more than `thresh` times the
#' deviance of the model without features (the duality gap). A path that was not given ends where glmnet's does: where
#' 99.9 % of the deviance are explained, or where another step explains hardly more.
#'
#' Families are `gaussian` and `binomial`. The families `poisson`, `multinomial`, `cox` and `mgaussian` of glmnet, its
#' limits of coefficients, and offsets of binomial models are not there. [sheaf_glm()] has Poisson and multinomial
#' models with a ridge penalty.
#'
#' @param x a matrix, sparse matrix (`dgCMatrix`) or data frame of numbers.
#' @param y numbers (gaussian); a factor of two levels or numbers of two values (binomial), of which coefficients speak
#'   for the second.
#' @param family `"gaussian"` or `"binomial"`.
#' @param weights how much each row counts; `NULL`: 1.
#' @param offset added to the linear predictor; gaussian only.
#' @param alpha the share of the L1 penalty: 1 is the lasso, 0 ridge regression.
#' @param nlambda how many penalties, where `lambda` is not given.
#' @param lambda.min.ratio the smallest of those as a share of the largest; default 0.01 where there are more columns
#'   than rows, else 1e-4.
#' @param lambda penalties; `NULL`: from the smallest that leaves no coefficients downwards.
#' @param standardize whether to penalise features as if their standard deviations were 1.
#' @param intercept whether models have an intercept.
#' @param thresh the duality gap at which training ends.
#' @param penalty.factor one of 0 or more for each column; scaled to a mean of 1, as in glmnet.
#' @param maxit most passes over the features of one model.
#' @param control see [sheaf_control()].
#' @return An object of class `sheaf_net` with the elements of a `glmnet` object: `a0`, `beta`, `df`, `dim`, `lambda`,
#'   `dev.ratio`, `nulldev`, `npasses`, `jerr`, `offset`, `classnames` (binomial), `nobs`, `call`.
#' @seealso [cv_sheaf_net()], [predict.sheaf_net()]
#' @examples
#' fit <- sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg)
#' plot(fit, xvar = "lambda")
#' coef(fit, s = 0.5)
#' @export
sheaf_net <- function(x, y, family = c("gaussian", "binomial"), weights = NULL, offset = NULL, alpha = 1, nlambda = 100,
                      lambda.min.ratio = if (nrow(x) < ncol(x)) 0.01 else 1e-04, lambda = NULL, standardize = TRUE,
                      intercept = TRUE, thresh = 1e-07, penalty.factor = rep(1, ncol(x)), maxit = 1e+05,
                      control = list()) {
  call <- match.call()
  x <- as_features(x)
  problem <- net_problem(x, y, family, weights, offset, alpha, standardize, intercept, thresh, penalty.factor, maxit,
                         control)
  lambda <- net_lambda(problem, x, lambda, nlambda, lambda.min.ratio)
  fit <- train_path(problem, x, lambda)
  fit$call <- call
  fit
}

# Everything but the penalties, checked. `scale` is what the response is divided by.
net_problem <- function(x, y, family, weights, offset, alpha, standardize, intercept, thresh, penalty.factor, maxit,
                        control) {
  rows <- nrow(x)
  known <- c("gaussian", "binomial")
  if (is.function(family)) family <- family()
  if (inherits(family, "family")) family <- family$family
  if (!identical(family, known) && is.character(family) && !family[1] %in% known) {
    stop_argument("family", "is \"", family[1],
                  "\"; elastic nets are \"gaussian\" or \"binomial\" here (sheaf_glm() has ",
                  "others, with a ridge penalty)")
  }
  family <- one_of(family, known, "family")
  y <- as_target(y, rows)
  weights <- check_weights(weights, rows)
  offset <- check_offset(offset, rows)
  if (!is.numeric(penalty.factor) || anyNA(penalty.factor) || any(penalty.factor < 0)) {
    stop_argument("penalty.factor", "must be numbers of 0 or more")
  }
  if (length(penalty.factor) != ncol(x)) {
    stop_argument("penalty.factor", "has ", length(penalty.factor), " entries for ", ncol(x), " columns")
  }
  if (all(penalty.factor == 0)) stop_argument("penalty.factor", "is 0 for all columns")
  factors <- penalty.factor * ncol(x) / sum(penalty.factor)
  problem <- list(family = family, rows = rows, weights = weights, offset = offset, scale = 1,
                  l1_ratio = one_number(alpha, "alpha", 0, 1), standardise = one_flag(standardize, "standardize"),
                  intercept = one_flag(intercept, "intercept"), tolerance = one_number(thresh, "thresh", 1e-15, 1),
                  max_epochs = as.integer(one_number(maxit, "maxit", 1, .Machine$integer.max)),
                  penalty_factors = if (all(factors == 1)) numeric() else factors, control = as_control(control))
  if (family == "binomial") binomial_target(problem, y) else gaussian_target(problem, y)
}

binomial_target <- function(problem, y) {
  if (!is.null(problem$offset)) stop_argument("offset", "is not for binomial elastic nets")
  y <- need_classes(y)
  if (nlevels(droplevels(y)) > 2) stop_argument("y", "has ", nlevels(y), " classes, and the family binomial is for two")
  problem$classnames <- levels(droplevels(y))
  problem$response <- as.double(y == problem$classnames[2])
  problem$target <- 2 * problem$response - 1
  problem
}

gaussian_target <- function(problem, y) {
  if (is.factor(y)) stop_argument("y", "is of classes, and the family gaussian is for numbers")
  problem$response <- y
  left <- if (is.null(problem$offset)) y else y - problem$offset
  w <- if (is.null(problem$weights)) rep(1, problem$rows) else problem$weights
  w <- w / sum(w)
  centre <- if (problem$intercept) sum(w * left) else 0
  problem$scale <- sqrt(sum(w * (left - centre)^2))
  if (problem$scale == 0) stop_argument("y", "is constant")
  problem$target <- left / problem$scale
  problem
}

# For the compiled part. `weights`: rows x paths; `folds`: from 0, the path whose decision value of a row is wanted.
net_options <- function(problem, alphas, weights, folds) {
  list(weights = weights, alphas = alphas, l1_ratio = problem$l1_ratio, penalty_factors = problem$penalty_factors,
       logistic = problem$family == "binomial", tolerance = problem$tolerance, max_epochs = problem$max_epochs,
       intercept = problem$intercept, standardise = problem$standardise, folds = folds)
}

path_weights <- function(problem) {
  if (is.null(problem$weights)) matrix(0, 0L, 0L) else matrix(problem$weights, ncol = 1L)
}

net_lambda <- function(problem, x, lambda, nlambda, lambda.min.ratio) {
  if (!is.null(lambda)) {
    if (!is.numeric(lambda) || length(lambda) == 0 || anyNA(lambda) || any(lambda < 0)) {
      stop_argument("lambda", "must be numbers of 0 or more")
    }
    return(structure(sort(as.double(lambda), decreasing = TRUE), given = TRUE))
  }
  one_number(nlambda, "nlambda", 1)
  one_number(lambda.min.ratio, "lambda.min.ratio", 0, 1)
  if (lambda.min.ratio == 0 || lambda.min.ratio == 1) stop_argument("lambda.min.ratio", "must be above 0 and below 1")
  options <- net_options(problem, 1, path_weights(problem), integer())
  largest <- core(core_net_largest(problem$control, x, list(), problem$target, options))
  if (any(problem$penalty_factors == 0)) largest <- largest_beside(problem, x, largest)
  largest <- largest * problem$scale
  structure(largest * lambda.min.ratio^(seq(0, 1, length.out = nlambda)), given = FALSE)
}

# The largest penalty where some features have none: from the gradient of the model of those alone.
largest_beside <- function(problem, x, enough) {
  options <- net_options(problem, enough, path_weights(problem), rep(0L, problem$rows))
  decisions <- core(core_nets(problem$control, x, list(), problem$target, options))$decisions[, 1]
  left <- if (problem$family == "binomial") problem$response - 1 / (1 + exp(-decisions)) else problem$target - decisions
  w <- if (is.null(problem$weights)) rep(1, problem$rows) else problem$weights
  w <- w / sum(w)
  gradient <- abs(as.vector(crossprod(x, w * left)))
  if (problem$standardise) {
    means <- as.vector(crossprod(x, w))
    spread <- sqrt(pmax(as.vector(crossprod(x^2, w)) - means^2, 0))
    gradient <- ifelse(spread > 0, gradient / spread, 0)
  }
  penalised <- problem$penalty_factors > 0
  max(gradient[penalised] / problem$penalty_factors[penalised]) / max(problem$l1_ratio, 0.001)
}

train_path <- function(problem, x, lambda) {
  options <- net_options(problem, lambda / problem$scale, path_weights(problem), rep(0L, problem$rows))
  path <- core(core_nets(problem$control, x, list(), problem$target, options))
  lost <- deviances(problem, path$decisions * problem$scale)
  null <- null_deviance(problem)
  ratio <- 1 - colSums(lost) / null
  kept <- if (attr(lambda, "given")) length(lambda) else path_length(ratio, problem$family)
  names <- paste0("s", seq_len(kept) - 1)
  beta <- new("dgCMatrix", p = path$p, i = path$i, x = path$x * problem$scale, Dim = c(ncol(x), length(lambda)),
              Dimnames = list(feature_names(x), NULL))[, seq_len(kept), drop = FALSE]
  colnames(beta) <- names
  warn_unconverged(sum(!path$converged[seq_len(kept)]), problem)
  fit <- list(a0 = stats::setNames(path$a0[seq_len(kept)] * problem$scale, names), beta = beta,
              df = diff(beta@p), dim = dim(beta), lambda = as.double(lambda)[seq_len(kept)],
              dev.ratio = ratio[seq_len(kept)], nulldev = null, npasses = sum(path$epochs), jerr = 0L,
              offset = !is.null(problem$offset), nobs = problem$rows)
  if (problem$family == "binomial") fit$classnames <- problem$classnames
  fit$family <- problem$family
  fit$n_features <- ncol(x)
  fit$feature_names <- colnames(x)
  structure(fit, class = c(if (problem$family == "binomial") "sheaf_lognet" else "sheaf_elnet", "sheaf_net"))
}

warn_unconverged <- function(count, problem) {
  if (count > 0) {
    warning(count, " models did not converge within maxit = ", problem$max_epochs, " passes", call. = FALSE)
  }
}

# Of each row and model, each times its weight.
deviances <- function(problem, decisions) {
  w <- if (is.null(problem$weights)) 1 else problem$weights
  if (problem$family == "binomial") return(2 * w * log1p_exp(-problem$target * decisions))
  left <- problem$response - if (is.null(problem$offset)) 0 else problem$offset
  w * (left - decisions)^2
}

# log(1 + exp(z)) without overflow.
log1p_exp <- function(z) pmax(z, 0) + log1p(exp(-abs(z)))

null_deviance <- function(problem) {
  w <- if (is.null(problem$weights)) rep(1, problem$rows) else problem$weights
  none <- if (problem$family == "binomial") {
    share <- if (problem$intercept) sum(w * problem$response) / sum(w) else 0.5
    log(share / (1 - share))
  } else if (problem$intercept) {
    sum(w * problem$target * problem$scale) / sum(w)
  } else {
    0
  }
  sum(deviances(problem, matrix(none, problem$rows, 1L)))
}

# Where glmnet's paths end (its fdev, devmax and mnlam).
path_length <- function(ratio, family) {
  steps <- seq_along(ratio)
  gained <- c(Inf, diff(ratio))
  little <- if (family == "gaussian") gained < 1e-5 * ratio else gained < 1e-5
  over <- which(steps >= 5 & (little | ratio > 0.999))
  if (length(over) == 0) length(ratio) else over[1]
}

#' Coefficients and predictions of elastic nets
#'
#' @param object a [sheaf_net()] or [cv_sheaf_net()].
#' @param newx new rows, with the columns of the training data.
#' @param s penalties; those between two of the path are interpolated, as in glmnet. `NULL`: all of the path. Of
#'   `cv_sheaf_net`: `"lambda.1se"`, `"lambda.min"` or numbers.
#' @param type `"link"`, `"response"`, `"class"`, `"coefficients"`, or `"nonzero"`: the features that have a
#'   coefficient.
#' @param newoffset needed where the model was trained with an offset.
#' @param ... not used; of `cv_sheaf_net` passed on.
#' @return A matrix with a column for each penalty; `"nonzero"`: a list, or a data frame of one column; `coef()`: a
#'   sparse matrix whose first row is the intercept.
#' @examples
#' fit <- sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg)
#' predict(fit, as.matrix(mtcars[1:3, -1]), s = c(1, 0.1))
#' @export
predict.sheaf_net <- function(object, newx, s = NULL, type = c("link", "response", "coefficients", "nonzero", "class"),
                              newoffset = NULL, ...) {
  type <- one_of(type, c("link", "response", "coefficients", "nonzero", "class"), "type")
  coefficients <- path_coefficients(object, s)
  if (type == "coefficients") return(coefficients)
  if (type == "nonzero") return(nonzero_features(coefficients))
  if (missing(newx)) stop_argument("newx", "is missing")
  x <- new_features(object, newx, "newx")
  link <- as.matrix(x %*% coefficients[-1, , drop = FALSE]) + rep(coefficients[1, ], each = nrow(x))
  if (object$offset) {
    if (is.null(newoffset)) stop_argument("newoffset", "is missing: the model was trained with an offset")
    link <- link + check_offset(newoffset, nrow(x), "newoffset")
  }
  dimnames(link) <- list(rownames(x), colnames(coefficients))
  if (type == "link" || (object$family == "gaussian" && type == "response")) return(link)
  if (type == "response") return(1 / (1 + exp(-link)))
  if (object$family == "gaussian") stop_argument("type", "\"class\" is for models of classes")
  link[] <- object$classnames[(link > 0) + 1]
  link
}

path_coefficients <- function(object, s) {
  all <- rbind(object$a0, object$beta)
  dimnames(all) <- list(c("(Intercept)", rownames(object$beta)), colnames(object$beta))
  if (is.null(s)) return(all)
  if (!is.numeric(s) || anyNA(s)) stop_argument("s", "must be numbers")
  place <- interpolate(object$lambda, s)
  found <- all[, place$left, drop = FALSE] %*% Diagonal(x = place$share) +
    all[, place$right, drop = FALSE] %*% Diagonal(x = 1 - place$share)
  dimnames(found) <- list(rownames(all), if (is.null(names(s))) paste0("s", seq_along(s)) else names(s))
  as(found, "CsparseMatrix")
}

# Between which two penalties of the path each one of `s` lies, and the share of the left one.
interpolate <- function(lambda, s) {
  count <- length(lambda)
  if (count == 1) return(list(left = rep(1L, length(s)), right = rep(1L, length(s)), share = rep(1, length(s))))
  s <- pmin(pmax(s, lambda[count]), lambda[1])
  place <- stats::approx(lambda, seq_len(count), s)$y
  left <- floor(place)
  right <- ceiling(place)
  share <- ifelse(left == right | lambda[left] == lambda[right], 1,
                  (s - lambda[right]) / (lambda[left] - lambda[right]))
  list(left = left, right = right, share = share)
}

nonzero_features <- function(coefficients) {
  features <- apply(as.matrix(coefficients)[-1, , drop = FALSE] != 0, 2, which, simplify = FALSE)
  features <- lapply(features, unname)
  if (length(features) == 1) as.data.frame(features) else features
}

#' @rdname predict.sheaf_net
#' @export
coef.sheaf_net <- function(object, s = NULL, ...) path_coefficients(object, s)

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
  used <- rowSums(x$beta != 0) > 0
  if (!any(used)) {
    warning("no feature has a coefficient: there is nothing to plot", call. = FALSE)
    return(invisible(x))
  }
  beta <- t(as.matrix(x$beta[used, , drop = FALSE]))
  along <- switch(xvar, norm = rowSums(abs(beta)), lambda = log(x$lambda), dev = x$dev.ratio)
  title <- switch(xvar, norm = "L1 Norm", lambda = "Log Lambda", dev = "Fraction Deviance Explained")
  graphics::matplot(along, beta, type = "l", lty = 1, xlab = title, ylab = "Coefficients", ...)
  marks <- pretty(along)
  counts <- stats::approx(along, x$df, marks, rule = 2, ties = mean, method = "constant")$y
  graphics::axis(3, at = marks, labels = counts, tick = FALSE, line = -0.5)
  if (label) {
    last <- length(along)
    graphics::text(along[last], beta[last, ], which(used), cex = 0.5, pos = if (xvar == "lambda") 2 else 4)
  }
  invisible(x)
}
