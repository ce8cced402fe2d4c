#' Cross-validated elastic nets
#'
#' As `glmnet::cv.glmnet()`: a path on all rows, the same penalties on all folds, and the mean score of each. The models
#' of all folds are trained as one piece of work.
#'
#' @details
#' Folds, scores, their means and standard errors follow `cv.glmnet()`: after the same `set.seed()` both deal the same
#' folds. With `alpha` below 1 and the family gaussian results differ a little, for glmnet divides the response by the
#' standard deviation of each fold's rows, and Sheaf by that of all rows. What [sheaf_net()] does not have is not here.
#'
#' The deviance of a Cox model is what the held-out rows add to that of the rows trained on, or with `grouped = FALSE`
#' that of the held-out rows alone, over the weights of their events. Weights are used as they are; glmnet scales them
#' anew for either part.
#'
#' With `relax = TRUE` the relaxed models of each fold are those of the features that its own path has; a set of
#' features that several folds have is trained on all of them at once. `lambda.min` and `lambda.1se` of the object are
#' those of the elastic net; `predict()` and `coef()` take the best pairs of `lambda` and `gamma` in its element
#' `relaxed`. Linear predictors of multinomial models that `keep` keeps then differ from glmnet's by a number for each
#' row, on which no probability depends.
#'
#' @param x,y,weights,offset,lambda as in [sheaf_net()].
#' @param type.measure `"mse"`, `"mae"`, `"deviance"`, `"class"` (errors; binomial, multinomial) or `"auc"` (binomial);
#'   `"default"`: `"mse"` (gaussian, mgaussian) or `"deviance"` (others; huber and quantile: their loss, that of
#'   quantiles being the pinball loss). Cox models have `"deviance"` and `"C"`, the concordance.
#' @param nfolds number of folds.
#' @param foldid the fold of each row, in place of `nfolds`.
#' @param grouped whether standard errors are those of the folds' means (`TRUE`) or of the rows; cox: see below.
#' @param keep whether to keep the linear predictors of held-out rows.
#' @param gamma shares of the penalised model, where `relax` is `TRUE`.
#' @param relax whether to score mixtures with relaxed models too; see [sheaf_net()].
#' @param ... further arguments of [sheaf_net()].
#' @return An object of class `cv_sheaf_net` with the elements of a `cv.glmnet` object: `lambda`, `cvm`, `cvsd`, `cvup`,
#'   `cvlo`, `nzero`, `call`, `name`, `glmnet.fit` (a [sheaf_net()]), `lambda.min`, `lambda.1se`, `index`; with `keep`
#'   also `fit.preval` and `foldid`. With `relax` it is a `cv_sheaf_relaxed` too, whose element `relaxed` has the scores
#'   of each `gamma` (`statlist`), `gamma`, and the best pairs: `lambda.min`, `lambda.1se`, `gamma.min`, `gamma.1se`,
#'   `nzero.min`, `nzero.1se` and `index`; `fit.preval` is then a list.
#' @examples
#' set.seed(1)
#' cv <- cv_sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg, nfolds = 5)
#' cv
#' coef(cv, s = "lambda.1se")
#' plot(cv)
#'
#' relaxed <- cv_sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg, nfolds = 5, relax = TRUE)
#' relaxed
#' coef(relaxed, s = "lambda.min", gamma = "gamma.min")
#' @export
cv_sheaf_net <- function(x, y, weights = NULL, offset = NULL, lambda = NULL,
                         type.measure = c("default", "mse", "deviance", "class", "auc", "mae", "C"), nfolds = 10,
                         foldid = NULL, grouped = TRUE, keep = FALSE, gamma = c(0, 0.25, 0.5, 0.75, 1), relax = FALSE,
                         ...) {
  call <- match.call()
  type <- one_of(type.measure, c("default", "mse", "deviance", "class", "auc", "mae", "C"), "type.measure")
  x <- as_features(x)
  rows <- nrow(x)
  further <- net_arguments(x, ...)
  gamma <- check_gammas(gamma)
  check_maxp(further$maxp)
  counts <- read_counts(x, y, further$family, weights, offset)
  if (!is.null(counts)) x <- x[counts$rows, , drop = FALSE]
  problem <- net_problem(x, counts$y %||% y, further$family, counts$weights %||% weights, counts$offset %||% offset,
                         further$alpha, further$standardize, further$intercept, further$thresh, further$penalty.factor,
                         further$maxit, further$type.multinomial, further$standardize.response, further$control)
  problem$origin <- counts$rows
  problem$saturated <- counts$saturated
  problem <- with_limits(problem, further$lower.limits, further$upper.limits, ncol(x))
  problem <- with_loss(problem, further$quantile, further$threshold)
  problem <- with_sizes(problem, further$dfmax, further$pmax)
  check_relax(relax, problem$family)
  if (is.null(foldid)) {
    one_number(nfolds, "nfolds", 3, rows)
    foldid <- sample(rep(seq(nfolds), length = rows))
  }
  folds <- check_folds(foldid, rows)
  nfolds <- max(folds) + 1L
  if (nfolds < 3) stop_argument("foldid", "must name three folds at least")
  type <- measure_of(type, problem$family, folds)
  grouped <- grouping_of(grouped, problem$family, rows / nfolds, type)
  if (!is.null(counts)) folds <- folds[counts$rows]
  problem <- without_columns(problem, x, further$exclude, further$penalty.factor)
  x <- used_columns(problem, x)
  penalties <- net_lambda(problem, x, lambda, further$nlambda, further$lambda.min.ratio)
  path <- train_path(problem, x, penalties)
  path$call <- path_call(call)
  path$nobs <- rows
  if (relax) path <- relax_path(problem, x, path, further$maxp)
  decisions <- if (relax) {
    mix_folds(train_relaxed_folds(problem, x, path$lambda, folds, further$maxp), gamma)
  } else {
    list(train_folds(problem, x, path$lambda, folds))
  }
  scores <- lapply(decisions, function(one) {
    c(list(lambda = path$lambda), score_folds(problem, one, folds, type, grouped),
      list(nzero = coefficient_counts(path)))
  })
  net <- scores[[length(scores)]]
  out <- c(net, list(call = call, name = measure_name(type, problem$family),
                     glmnet.fit = restore_columns(problem, path)))
  if (keep) {
    kept <- if (problem$family == "cox") lapply(decisions, held_out, folds) else decisions
    if (!is.null(counts)) kept <- lapply(kept, function(one) one[match(seq_len(rows), counts$rows), , drop = FALSE])
    out$fit.preval <- if (relax) kept else kept[[1]]
    out$foldid <- foldid
  }
  out <- c(out, best_lambda(path$lambda, net$cvm, net$cvsd, type))
  if (!relax) return(structure(out, class = "cv_sheaf_net"))
  scores <- scores[seq_along(gamma)]
  out$relaxed <- c(list(statlist = scores, gamma = gamma), best_mixture(scores, gamma, type))
  structure(out, class = c("cv_sheaf_relaxed", "cv_sheaf_net"))
}

# The call of sheaf_net() that trains the path of a cross-validation.
path_call <- function(call) {
  call[[1L]] <- quote(sheaf_net)
  call[intersect(names(call), c("type.measure", "nfolds", "foldid", "grouped", "keep", "gamma"))] <- NULL
  call
}

# The median over classes or responses.
coefficient_counts <- function(path) {
  if (has_several(path$family)) return(ceiling(apply(path$dfmat, 2, stats::median)))
  stats::setNames(path$df, colnames(path$beta))
}

measure_name <- function(type, family) {
  deviance <- switch(family, cox = "Partial Likelihood Deviance", huber = "Huber Loss", quantile = "Pinball Loss",
                     paste0(toupper(substr(family, 1, 1)), substring(family, 2), " Deviance"))
  names <- c(mse = "Mean-Squared Error", mae = "Mean Absolute Error", deviance = deviance,
             class = "Misclassification Error", auc = "AUC", C = "C-index")
  names[type]
}

# Arguments of sheaf_net() that go through `...`, with their defaults.
net_arguments <- function(x, ...) {
  given <- list(...)
  known <- setdiff(names(formals(sheaf_net)), c("x", "y", "weights", "offset", "lambda", "relax"))
  unknown <- setdiff(names(given), known)
  if (length(unknown) > 0) stop_argument(unknown[1], "is not an argument of sheaf_net()")
  surroundings <- list(x = x, family = given$family, dfmax = given$dfmax %||% (ncol(x) + 1))
  defaults <- lapply(formals(sheaf_net)[known], eval, envir = surroundings)
  # Not modifyList(), which takes lists such as `control` apart.
  defaults[names(given)] <- given
  defaults
}

# The default first. Gaussian models have mse for a deviance.
family_measures <- function(family) {
  switch(family, gaussian = , mgaussian = c("mse", "mae"), binomial = c("deviance", "class", "auc", "mse", "mae"),
         multinomial = c("deviance", "class", "mse", "mae"), cox = c("deviance", "C"), c("deviance", "mse", "mae"))
}

measure_of <- function(type, family, folds) {
  allowed <- family_measures(family)
  if (type == "default" || (type == "deviance" && family %in% c("gaussian", "mgaussian"))) type <- allowed[1]
  if (!type %in% allowed) stop_argument("type.measure", "\"", type, "\" is not for the family ", family)
  if (type == "auc" && min(table(folds)) < 10) {
    warning("fewer than 10 rows per fold for type.measure = \"auc\": \"deviance\" is used", call. = FALSE)
    type <- "deviance"
  }
  type
}

grouping_of <- function(grouped, family, rows_per_fold, type) {
  grouped <- one_flag(grouped, "grouped")
  if (family == "cox") {
    if (grouped || rows_per_fold >= 10) return(grouped)
    warning("grouped = TRUE is used, for there are fewer than 10 rows per fold", call. = FALSE)
    return(TRUE)
  }
  if (!grouped || rows_per_fold >= 3 || type == "auc") return(grouped)
  warning("grouped = FALSE is used, for there are fewer than 3 rows per fold", call. = FALSE)
  FALSE
}

# Decision values of the rows that each fold held out, as as_link() has them; of Cox models, whose scores need those of
# all rows, rows x penalties x folds.
train_folds <- function(problem, x, lambda, folds) {
  weights <- fold_weights(problem, folds)
  trained <- train_nets(problem, x, lambda, weights, if (problem$family == "cox") integer() else folds)
  warn_unconverged(trained$unconverged, problem)
  fold_links(problem, trained$decisions, ncol(weights))
}

# Rows x folds: 0 for the rows that a fold holds out.
fold_weights <- function(problem, folds) {
  w <- row_weights(problem)
  vapply(seq_len(max(folds) + 1L) - 1L, function(fold) w * (folds != fold), w)
}

fold_links <- function(problem, decisions, folds) {
  link <- as_link(problem, decisions)
  if (problem$family == "cox") array(link, c(problem$rows, ncol(link) / folds, folds)) else link
}

# Values of the rows that each fold held out, from rows x penalties x folds.
held_out <- function(decisions, folds) {
  values <- decisions[, , 1]
  dim(values) <- dim(decisions)[1:2]
  for (fold in seq_len(dim(decisions)[3])) values[folds == fold - 1, ] <- decisions[folds == fold - 1, , fold]
  values
}

# Means over the held-out rows and their standard errors, as cv.glmnet() has them.
score_folds <- function(problem, decisions, folds, type, grouped) {
  groups <- if (grouped || type == "auc") folds else problem$origin %||% integer()
  found <- core(core_net_scores(net_response(problem), type, decisions, folds, groups, grouped))
  list(cvm = found$mean, cvsd = found$error, cvup = found$mean + found$error, cvlo = found$mean - found$error)
}

best_lambda <- function(lambda, cvm, cvsd, type) {
  index <- core_choose_net(lambda, rep(1, length(lambda)), cvm, cvsd, type)
  list(lambda.min = lambda[index[1]], lambda.1se = lambda[index[2]],
       index = matrix(index, 2, 1, dimnames = list(c("min", "1se"), "Lambda")))
}

lambda_of <- function(object, s) {
  if (is.numeric(s)) return(s)
  name <- one_of(s, c("lambda.1se", "lambda.min"), "s")
  stats::setNames(object[[name]], name)
}

#' @rdname predict.sheaf_net
#' @export
predict.cv_sheaf_net <- function(object, newx, s = c("lambda.1se", "lambda.min"), ...) {
  s <- lambda_of(object, s)
  stats::predict(object$glmnet.fit, newx, s = s, ...)
}

#' @rdname predict.sheaf_net
#' @export
coef.cv_sheaf_net <- function(object, s = c("lambda.1se", "lambda.min"), ...) {
  stats::coef(object$glmnet.fit, s = lambda_of(object, s), ...)
}

#' @export
print.cv_sheaf_net <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat("\nCall: ", deparse(x$call), "\n\n")
  cat("Measure:", x$name, "\n\n")
  places <- x$index[, 1]
  print(data.frame(Lambda = signif(x$lambda[places], digits), Index = places, Measure = signif(x$cvm[places], digits),
                   SE = signif(x$cvsd[places], digits), Nonzero = x$nzero[places], row.names = c("min", "1se")))
  invisible(x)
}

#' Plot a cross-validated elastic net
#'
#' @param x a [cv_sheaf_net()].
#' @param sign.lambda 1 or -1: the direction of the axis.
#' @param ... passed on to [graphics::plot()].
#' @return Nothing; called for its plot.
#' @examples
#' plot(cv_sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg, nfolds = 4))
#' @export
plot.cv_sheaf_net <- function(x, sign.lambda = 1, ...) {
  along <- sign.lambda * log(x$lambda)
  title <- paste0(if (sign.lambda < 0) "-", "Log(lambda)")
  given <- list(...)
  defaults <- list(x = along, y = x$cvm, ylim = range(x$cvup, x$cvlo), xlab = title, ylab = x$name, type = "n")
  do.call(graphics::plot, utils::modifyList(defaults, given))
  graphics::segments(along, x$cvlo, along, x$cvup, col = "darkgrey")
  graphics::points(along, x$cvm, pch = 20, col = "red")
  graphics::axis(3, at = along, labels = x$nzero, tick = FALSE, line = 0)
  graphics::abline(v = sign.lambda * log(c(x$lambda.min, x$lambda.1se)), lty = 3)
  invisible(x)
}
