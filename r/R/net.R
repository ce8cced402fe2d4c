#' Elastic nets
#'
#' A path of linear models with an L1 and an L2 penalty, as `glmnet::glmnet()` trains it, with the same arguments and an
#' object of the same elements.
#'
#' @details
#' The objective is glmnet's: `1 / (2 n) * sum of squares` (gaussian), `1 / n * sum of losses` (huber and quantile) or
#' `1 / n * minus log-likelihood` (others; cox: the partial one, ties by Breslow), plus
#' `lambda * sum(penalty.factor * (alpha * abs(beta) + (1 - alpha) / 2 * beta^2 / s))`, with penalties on the scale of
#' standardised features where `standardize` is `TRUE`. `s` is the standard deviation of the response (gaussian, huber and
#' quantile; without an intercept from 0), so that nothing depends on its unit, and 1 for others. Coefficients are those
#' of the features as they are. Of several
#' responses (mgaussian), and of classes with `type.multinomial = "grouped"`, `abs(beta)` is the length of a feature's
#' coefficients in all of them, so that a feature has some in all or in none.
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
#' Strata, and offsets of models of several classes or responses, are not there. [sheaf_glm()] has more
#' families with a ridge penalty. Where times tie, glmnet's paths of Cox models depend on the order of rows, and these
#' do not.
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
#' @param offset added to the linear predictor; not for models of several classes or responses.
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

# Two columns of a binomial response, counts or shares of each class, as glmnet takes them: a row for each class that a
# row of `y` has. NULL: `y` is no such matrix. `rows`: the row of x of each of them; `saturated`: what its deviance has
# less, for no model knows more than the shares.
read_counts <- function(x, y, family, weights, offset) {
  name <- if (is.function(family)) family()$family else if (inherits(family, "family")) family$family else family
  if (!identical(name, "binomial") || NCOL(y) != 2) return(NULL)
  y <- as.matrix(y)
  if (!is.numeric(y) || any(!is.finite(y)) || any(y < 0)) {
    stop_argument("y", "must have counts or shares of two classes, numbers of 0 or more")
  }
  if (nrow(y) != nrow(x)) stop_argument("y", "has ", nrow(y), " rows for ", nrow(x), " rows of 'x'")
  classes <- colnames(y) %||% c("1", "2")
  weights <- check_weights(weights, nrow(x)) %||% rep(1, nrow(x))
  cells <- which(y > 0, arr.ind = TRUE)
  rows <- unname(cells[, 1])
  list(rows = rows, y = factor(classes[cells[, 2]], levels = classes), weights = weights[rows] * y[cells],
       offset = check_offset(offset, nrow(x))[rows], nobs = nrow(x),
       saturated = 2 * log(y[cells] / rowSums(y)[rows]))
}

# Everything but the penalties, checked. `scale` is what each response is divided by (mgaussian); `classnames` are those of the
# classes or responses, where there are several in one model.
net_problem <- function(x, y, family, weights, offset, alpha, standardize, intercept, thresh, penalty.factor, maxit,
                        type.multinomial, standardize.response, control) {
  rows <- nrow(x)
  known <- eval(formals(sheaf_net)$family)
  if (is.function(family)) family <- family()
  if (inherits(family, "family")) family <- net_family(family)
  if (!identical(family, known) && is.character(family) && !family[1] %in% known) {
    stop_argument("family", "is \"", family[1], "\"; elastic nets are ", paste0("\"", known, "\"", collapse = ", "),
                  " here (sheaf_glm() has others, with a ridge penalty)")
  }
  family <- one_of(family, known, "family")
  y <- switch(family, cox = read_survival(y, rows), mgaussian = as_responses(y, rows), as_target(y, rows))
  weights <- check_weights(weights, rows)
  offset <- check_offset(offset, rows)
  if (!is.numeric(penalty.factor) || anyNA(penalty.factor) || any(penalty.factor < 0)) {
    stop_argument("penalty.factor", "must be numbers of 0 or more")
  }
  if (length(penalty.factor) != ncol(x)) {
    stop_argument("penalty.factor", "has ", length(penalty.factor), " entries for ", ncol(x), " columns")
  }
  if (all(penalty.factor == 0)) stop_argument("penalty.factor", "is 0 for all columns")
  penalty.factor[is.infinite(penalty.factor)] <- 1  # of columns that are left out
  factors <- penalty.factor * ncol(x) / sum(penalty.factor)
  problem <- list(family = family, rows = rows, weights = weights, offset = offset, scale = 1, classes = 1L,
                  l1_ratio = one_number(alpha, "alpha", 0, 1), standardise = one_flag(standardize, "standardize"),
                  intercept = one_flag(intercept, "intercept"), tolerance = one_number(thresh, "thresh", 1e-15, 1),
                  max_epochs = as.integer(one_number(maxit, "maxit", 1, .Machine$integer.max)),
                  penalty_factors = if (all(factors == 1)) numeric() else factors, control = as_control(control),
                  shared = core_net_shared())
  grouped <- one_of(type.multinomial, c("ungrouped", "grouped"), "type.multinomial") == "grouped"
  problem$grouped <- family == "mgaussian" || (family == "multinomial" && grouped)
  problem$standardise_response <- one_flag(standardize.response, "standardize.response")
  switch(family, gaussian = gaussian_target(problem, y), binomial = binomial_target(problem, y),
         poisson = poisson_target(problem, y), multinomial = multinomial_target(problem, y),
         cox = cox_target(problem, y), mgaussian = responses_target(problem, y),
         huber = , quantile = numbers_target(problem, y))
}

# The name of a family object, whose link must be the family's canonical one.
net_family <- function(family) {
  links <- c(gaussian = "identity", binomial = "logit", poisson = "log")
  if (family$family %in% names(links) && !identical(family$link, links[[family$family]])) {
    stop_argument("family", "has the link ", family$link, ", and elastic nets of the family ", family$family,
                  " have the link ", links[[family$family]], " (sheaf_glm() has other links, with a ridge penalty)")
  }
  family$family
}

# The parameter of the family's loss, where it has one.
with_loss <- function(problem, quantile, threshold) {
  problem$loss_parameter <- switch(problem$family, huber = huber_threshold(problem, threshold),
                                   quantile = inner_number(quantile, "quantile"), 0)
  constant <- problem$loss_parameter > 0 && problem$intercept && diff(range(problem$target)) == 0
  if (constant) stop_argument("y", "is constant")
  problem
}

huber_threshold <- function(problem, threshold) {
  if (!is.null(threshold)) {
    one_number(threshold, "threshold", 0)
    if (threshold == 0 || is.infinite(threshold)) stop_argument("threshold", "must be above 0, and finite")
    return(threshold)
  }
  tryCatch(core_huber_threshold(problem$target, problem$weights), `C++Error` = function(error) {
    stop_argument("threshold", "must be given: half of the responses are the same number, and have no scale")
  })
}

inner_number <- function(value, argument) {
  one_number(value, argument, 0, 1)
  if (value == 0 || value == 1) stop_argument(argument, "must be above 0 and below 1")
  value
}

# Limits of coefficients, recycled as in glmnet.
with_limits <- function(problem, lower, upper, columns) {
  check <- function(limits, name, sign, words) {
    if (!is.numeric(limits) || length(limits) == 0 || anyNA(limits) || any(sign * limits < 0)) {
      stop_argument(name, "must be numbers of 0 or ", words)
    }
    if (length(limits) != 1 && length(limits) < columns) {
      stop_argument(name, "has ", length(limits), " entries for ", columns, " columns")
    }
    if (all(is.infinite(limits))) return(numeric())
    if (any(problem$scale != problem$scale[1])) {
      stop_argument(name, "is not for responses that are standardised; divide them by their standard deviations first")
    }
    rep_len(as.double(limits), columns)
  }
  problem$lower_limits <- check(lower, "lower.limits", -1, "less")
  problem$upper_limits <- check(upper, "upper.limits", 1, "more")
  problem
}

with_sizes <- function(problem, dfmax, pmax) {
  problem$dfmax <- one_number(dfmax, "dfmax", 1)
  problem$pmax <- one_number(pmax, "pmax", 1)
  problem
}

# Columns that are left out, as glmnet leaves them out: penalties are scaled as if they had a factor of 1. `columns` has
# the names of all of them and the places of those that are used, if some are not.
without_columns <- function(problem, x, exclude, penalty.factor) {
  if (is.function(exclude)) stop_argument("exclude", "must be numbers of columns; a function is not offered")
  if (!is.null(exclude) && (!is.numeric(exclude) || !all(exclude %in% seq_len(ncol(x))))) {
    stop_argument("exclude", "must be numbers of columns, from 1 to ", ncol(x))
  }
  out <- union(exclude, which(is.infinite(penalty.factor)))
  if (length(out) == 0) return(problem)
  used <- setdiff(seq_len(ncol(x)), out)
  if (length(used) == 0) stop_argument("exclude", "and penalty.factor leave out all columns")
  problem$columns <- list(names = feature_names(x), colnames = colnames(x), used = used)
  for (name in c("penalty_factors", "lower_limits", "upper_limits")) {
    if (length(problem[[name]]) > 0) problem[[name]] <- problem[[name]][used]
  }
  problem
}

used_columns <- function(problem, x) if (is.null(problem$columns)) x else x[, problem$columns$used, drop = FALSE]

# A path with rows of zeros for the columns that were left out.
restore_columns <- function(problem, fit) {
  if (is.null(problem$columns)) return(fit)
  count <- length(problem$columns$names)
  whole <- function(beta) {
    sparse_columns(problem$columns$used[beta@i + 1L] - 1L, beta@p, beta@x, c(count, ncol(beta)),
                   list(problem$columns$names, colnames(beta)))
  }
  fit$beta <- if (is.list(fit$beta)) lapply(fit$beta, whole) else whole(fit$beta)
  fit$dim <- c(count, fit$dim[2])
  fit$n_features <- count
  fit["feature_names"] <- list(problem$columns$colnames)
  if (!is.null(fit$relaxed)) fit$relaxed <- restore_columns(problem, fit$relaxed)
  fit
}

# A matrix of numbers with a name for each column.
as_responses <- function(y, rows) {
  if (is.data.frame(y)) y <- as.matrix(y)
  if (!is.matrix(y) || !is.numeric(y)) stop_argument("y", "must be a matrix of numbers, one column for each response")
  if (nrow(y) != rows) stop_argument("y", "has ", nrow(y), " rows, and x has ", rows)
  if (ncol(y) < 2) stop_argument("y", "has one column; use the family gaussian")
  if (any(!is.finite(y))) stop_argument("y", "row ", row(y)[!is.finite(y)][1], " has a number that is not finite")
  if (is.null(colnames(y))) colnames(y) <- paste0("y", seq_len(ncol(y)))
  storage.mode(y) <- "double"
  y
}

responses_target <- function(problem, y) {
  if (!is.null(problem$offset)) stop_argument("offset", "is not for several responses; take it off y")
  problem$classnames <- colnames(y)
  problem$classes <- ncol(y)
  problem$response <- y
  problem$scale <- rep(1, ncol(y))
  if (problem$standardise_response) {
    w <- row_weights(problem)
    w <- w / sum(w)
    centre <- if (problem$intercept) colSums(w * y) else rep(0, ncol(y))
    problem$scale <- sqrt(colSums(w * sweep(y, 2, centre)^2))
    if (any(problem$scale == 0)) stop_argument("y", "column ", which(problem$scale == 0)[1], " is constant")
  }
  problem$target <- as.vector(t(y) / problem$scale)
  problem
}

# Whether the models of a family have several decision values.
has_several <- function(family) family %in% c("multinomial", "mgaussian")

cox_target <- function(problem, survival) {
  problem$intercept <- FALSE
  problem$survival <- survival
  problem$target <- as.double(survival$event)
  if (all((row_weights(problem) * problem$target) == 0)) stop_argument("weights", "are 0 for all events")
  problem
}

row_weights <- function(problem) if (is.null(problem$weights)) rep(1, problem$rows) else problem$weights

binomial_target <- function(problem, y) {
  y <- need_classes(y)
  if (length(present_levels(y)) > 2)
    stop_argument("y", "has ", nlevels(y), " classes, and the family binomial is for two")
  problem$classnames <- present_levels(y)
  problem$response <- as.double(y == problem$classnames[2])
  problem$target <- 2 * problem$response - 1
  problem
}

poisson_target <- function(problem, y) {
  if (is.factor(y)) stop_argument("y", "is of classes, and the family poisson is for counts")
  if (any(y < 0)) {
    row <- which(y < 0)[1]
    stop_argument("y", "entry ", row, " is ", y[row], ", and the family poisson is for numbers of 0 or more")
  }
  if (all(y == 0)) stop_argument("y", "is 0 everywhere")
  problem$response <- y
  problem$target <- y
  problem
}

multinomial_target <- function(problem, y) {
  if (!is.null(problem$offset)) stop_argument("offset", "is not for multinomial elastic nets")
  y <- need_classes(y)
  problem$classnames <- present_levels(y)
  problem$classes <- length(problem$classnames)
  problem$response <- outer(as.character(y), problem$classnames, "==") + 0
  problem$target <- as.vector(t(problem$response))
  problem
}

# Whether offsets are taken off the target, and not known to the compiled part.
is_of_numbers <- function(family) family %in% c("gaussian", "huber", "quantile")

numbers_target <- function(problem, y) {
  if (is.factor(y)) stop_argument("y", "is of classes, and the family ", problem$family, " is for numbers")
  problem$response <- y
  problem$target <- if (is.null(problem$offset)) y else y - problem$offset
  problem
}

gaussian_target <- function(problem, y) {
  problem <- numbers_target(problem, y)
  counted <- problem$target[row_weights(problem) > 0]
  if (all(counted == if (problem$intercept) counted[1] else 0)) stop_argument("y", "is constant")
  problem
}

# For the compiled part. `weights`: rows x paths; `folds`: from 0, the path whose decision value of a row is wanted, or
# nothing: those of all paths.
net_options <- function(problem, alphas, weights, folds) {
  list(weights = weights, alphas = alphas, l1_ratio = problem$l1_ratio, penalty_factors = problem$penalty_factors,
       lower_limits = problem$lower_limits / problem$scale[1], upper_limits = problem$upper_limits / problem$scale[1],
       loss = net_loss(problem$family),
       loss_parameter = problem$loss_parameter,
       times = if (problem$family == "cox") problem$survival$time else numeric(), classes = problem$classes,
       tolerance = problem$tolerance, max_epochs = problem$max_epochs,
       offsets = if (is_of_numbers(problem$family) || is.null(problem$offset)) numeric() else problem$offset,
       intercept = problem$intercept, standardise = problem$standardise, grouped = problem$grouped,
       relative_l2 = is_of_numbers(problem$family), folds = folds, shared = problem$shared)
}

net_loss <- function(family) {
  switch(family, gaussian = , mgaussian = "squared", binomial = "logistic", multinomial = "softmax", family)
}

# What decision values are compared with, for the compiled part.
net_response <- function(problem) {
  targets <- switch(problem$family, binomial = problem$target, cox = problem$survival$event, problem$response)
  list(loss = net_loss(problem$family), parameter = problem$loss_parameter %||% 0, classes = NCOL(targets),
       targets = as.double(targets), times = problem$survival$time %||% numeric(),
       weights = problem$weights %||% numeric(), offsets = problem$offset %||% numeric(),
       saturated = problem$saturated %||% numeric())
}

# Decision values of the compiled part on the scale of the response, with offsets: rows x penalties, of several classes
# rows x classes x penalties.
as_link <- function(problem, decisions) {
  if (problem$classes > 1) {
    decisions <- decisions * rep(problem$scale, each = problem$rows)
    return(array(decisions, c(problem$rows, problem$classes, ncol(decisions) / problem$classes),
                 list(NULL, problem$classnames, NULL)))
  }
  decisions + if (is.null(problem$offset)) 0 else problem$offset
}

# Probabilities of the classes, from their decision values.
shares <- function(link) {
  risen <- exp(sweep(link, c(1, 3), apply(link, c(1, 3), max)))
  sweep(risen, c(1, 3), apply(risen, c(1, 3), sum), "/")
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
  inner_number(lambda.min.ratio, "lambda.min.ratio")
  options <- net_options(problem, 1, path_weights(problem), integer())
  largest <- core(core_net_largest(problem$control, x, problem$target, options))
  structure(largest * lambda.min.ratio^(seq(0, 1, length.out = nlambda)), given = FALSE)
}

# What the compiled part finds: for the paths of all columns of `weights` decision values, and of a single path its
# models. `folds` as in net_options().
train_nets <- function(problem, x, lambda, weights = path_weights(problem), folds = rep(0L, problem$rows)) {
  options <- net_options(problem, lambda, weights, folds)
  core(core_nets(problem$control, x, problem$target, options))
}

train_path <- function(problem, x, lambda) {
  null <- core(core_net_deviances(net_response(problem), numeric(), problem$intercept))$deviance
  given <- attr(lambda, "given")
  if (problem$family == "quantile") {  # whose loss is rounded in training
    path <- train_nets(problem, x, lambda)
    ratio <- explained(problem, as_link(problem, path$decisions))$share
    over <- which(seq_along(ratio) >= 5 & ratio > 0.999)
    kept <- if (given || length(over) == 0) length(ratio) else over[1]
  } else {
    options <- net_options(problem, lambda, path_weights(problem), integer())
    # The compiled part does not know what the best models of counts of two classes leave.
    share <- 1 - sum(row_weights(problem) * (problem$saturated %||% 0)) / null
    end <- path_end(problem, given, share)
    path <- core(core_net_path(problem$control, x, problem$target, options, end))
    ratio <- path$explained * share
    kept <- length(ratio)
  }
  pairs <- used_features(problem, path, ncol(x))
  if (!given) kept <- min(kept, sized_length(problem, pairs, length(ratio)))
  names <- paste0("s", seq_len(kept) - 1)
  scale <- rep_len(problem$scale, length(path$a0))  # of the columns
  all <- sparse_columns(path$i, path$p, path$x * rep(scale, diff(path$p)), c(ncol(x), length(path$a0)),
                        list(feature_names(x), NULL))
  # Of class k at all penalties that are kept.
  columns <- function(k) (seq_len(kept) - 1L) * problem$classes + k
  first <- columns(1L)
  warn_unconverged(sum(!path$converged[first]), problem)
  beta <- lapply(seq_len(problem$classes), function(k) {
    one <- if (kept == ncol(all)) all else all[, columns(k), drop = FALSE]
    one@Dimnames[[2]] <- names
    one
  })
  if (has_several(problem$family)) {
    names(beta) <- problem$classnames
    a0 <- matrix((path$a0 * scale)[seq_len(kept * problem$classes)], problem$classes,
                 dimnames = list(problem$classnames, names))
    fit <- list(a0 = a0, beta = beta, dfmat = do.call(rbind, lapply(beta, function(one) diff(one@p))),
                df = tabulate(pairs$step, kept), dim = dim(beta[[1]]))
    dimnames(fit$dfmat) <- dimnames(a0)
  } else {
    beta <- beta[[1]]
    a0 <- if (problem$family != "cox") stats::setNames(path$a0[first], names)
    fit <- list(a0 = a0, beta = beta, df = diff(beta@p), dim = dim(beta))
  }
  fit <- c(fit, list(lambda = as.double(lambda)[seq_len(kept)], dev.ratio = ratio[seq_len(kept)], nulldev = null,
                     npasses = sum(path$epochs[first]), jerr = 0L, offset = !is.null(problem$offset),
                     nobs = problem$rows))
  if (!is.null(problem$classnames) && problem$family != "mgaussian") fit$classnames <- problem$classnames
  if (problem$family == "multinomial") fit$grouped <- problem$grouped
  if (problem$family == "huber") fit$threshold <- problem$loss_parameter
  if (problem$family == "quantile") fit$quantile <- problem$loss_parameter
  fit$family <- problem$family
  fit$n_features <- ncol(x)
  fit$feature_names <- colnames(x)
  kind <- c(gaussian = "sheaf_elnet", binomial = "sheaf_lognet", poisson = "sheaf_fishnet",
            multinomial = "sheaf_multnet", cox = "sheaf_coxnet", mgaussian = "sheaf_mrelnet",
            huber = "sheaf_hubernet", quantile = "sheaf_quantnet")
  structure(fit, class = c(kind[[problem$family]], "sheaf_net"))
}

# The share of the deviance that models explain, and whether the first one is certain of some row: of responses divided
# by their scales, as in glmnet.
explained <- function(problem, link) {
  if (problem$family == "mgaussian") {
    problem$response <- sweep(problem$response, 2, problem$scale, "/")
    link <- sweep(link, 2, problem$scale, "/")
  }
  response <- net_response(problem)
  found <- core(core_net_deviances(response, link, TRUE))
  null <- core(core_net_deviances(response, numeric(), problem$intercept))$deviance
  list(share = 1 - found$deviance / null, certain = found$certain)
}

warn_unconverged <- function(count, problem) {
  if (count > 0) {
    warning(count, " models did not converge within maxit = ", problem$max_epochs, " passes", call. = FALSE)
  }
}

# Where glmnet's paths end (its fdev, devmax and mnlam). With a limit of 0 it does not ask how little a step explains.
# `share`: how many times what the compiled part takes for explained counts.
path_end <- function(problem, given, share) {
  end <- switch(problem$family,
    gaussian = , mgaussian = , huber = list(least_gain = 1e-5, relative = TRUE, models = 1L),
    poisson = list(least_gain = 1e-4, relative = TRUE, models = 4L),
    cox = list(least_gain = 1e-3, relative = TRUE, models = 4L),
    list(least_gain = 1e-5 / share, relative = FALSE, models = 1L)
  )
  if (given || any(c(problem$lower_limits, problem$upper_limits) == 0)) end$least_gain <- 0
  c(end, list(most_explained = if (given) Inf else 0.999 / share))
}

# The features that have a coefficient at each step of a path, in any class: pairs of both.
used_features <- function(problem, path, features) {
  step <- rep((seq_along(path$a0) - 1L) %/% problem$classes + 1L, diff(path$p))
  new <- !duplicated(step * as.numeric(features) + path$i)
  list(step = step[new], feature = path$i[new])
}

# Where glmnet's paths end by the number of features that have a coefficient, or have had one.
sized_length <- function(problem, pairs, steps) {
  counts <- tabulate(pairs$step, steps)
  last <- which(seq_len(steps) >= 5 & counts > problem$dfmax)[1]
  ever <- cumsum(tabulate(pairs$step[!duplicated(pairs$feature)], steps))
  over <- which(ever > problem$pmax)[1]
  if (!is.na(over) && (is.na(last) || over <= last)) {
    warning("more than pmax = ", problem$pmax, " features have had a coefficient by penalty ", over,
            ": the path ends before it", call. = FALSE)
    return(max(over - 1L, 1L))
  }
  if (is.na(last)) steps else last
}

#' Coefficients and predictions of elastic nets
#'
#' @param object a [sheaf_net()] or [cv_sheaf_net()].
#' @param newx new rows, with the columns of the training data.
#' @param s penalties; those between two of the path are interpolated, as in glmnet. `NULL`: all of the path. Of
#'   `cv_sheaf_net`: `"lambda.1se"`, `"lambda.min"` or numbers.
#' @param type `"link"`, `"response"`, `"class"`, `"coefficients"`, or `"nonzero"`: the features that have a
#'   coefficient.
#' @param gamma of relaxed models: the share of the penalised model; 1 is the elastic net, 0 the relaxed model. Of
#'   `cv_sheaf_relaxed`: a number, `"gamma.1se"` or `"gamma.min"`; `NULL`: the one that belongs to `s`.
#' @param exact whether to train anew at penalties `s` that are not of the path, instead of interpolating. The arguments
#'   `x`, `y` and, if they were given, `weights`, `offset`, `penalty.factor`, `exclude`, `lower.limits` and
#'   `upper.limits` of the call must then be given too, as in glmnet.
#' @param newoffset needed where the model was trained with an offset.
#' @param ... with `exact`: arguments of [sheaf_net()]; of `cv_sheaf_net` passed on.
#' @return A matrix with a column for each penalty; `"nonzero"`: a list, or a data frame of one column; `coef()`: a
#'   sparse matrix whose first row is the intercept (Cox models have none). Multinomial and mgaussian: `"link"` and
#'   `"response"` are arrays of rows, classes or responses and penalties, and coefficients and `"nonzero"` lists with an
#'   element for each class or response.
#' @examples
#' fit <- sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg)
#' predict(fit, as.matrix(mtcars[1:3, -1]), s = c(1, 0.1))
#' @export
predict.sheaf_net <- function(object, newx, s = NULL, type = c("link", "response", "coefficients", "nonzero", "class"),
                              exact = FALSE, newoffset = NULL, ...) {
  type <- one_of(type, c("link", "response", "coefficients", "nonzero", "class"), "type")
  object <- exact_path(object, s, exact, list(...), parent.frame())
  coefficients <- path_coefficients(object, s)
  several <- has_several(object$family)
  if (type == "coefficients") return(coefficients)
  if (type == "nonzero") {
    return(if (several) lapply(coefficients, nonzero_features) else nonzero_features(coefficients, object$family))
  }
  if (missing(newx)) stop_argument("newx", "is missing")
  x <- new_features(object, newx, "newx")
  if (type == "class" && object$family == "mgaussian") stop_argument("type", "\"class\" is for models of classes")
  if (several) return(predict_several(x, coefficients, if (object$family == "mgaussian") "link" else type))
  link <- link_of(x, coefficients, object$family)
  if (object$offset) {
    if (is.null(newoffset)) stop_argument("newoffset", "is missing: the model was trained with an offset")
    link <- link + check_offset(newoffset, nrow(x), "newoffset")
  }
  if (type == "class" && object$family != "binomial") stop_argument("type", "\"class\" is for models of classes")
  if (type == "class") link[] <- object$classnames[(link > 0) + 1]
  if (type != "response") return(link)
  switch(object$family, binomial = 1 / (1 + exp(-link)), poisson = , cox = exp(link), link)
}

link_of <- function(x, coefficients, family = "") {
  link <- as.matrix(x %*% of_features(coefficients, family))
  if (family != "cox") link <- link + rep(coefficients[1, ], each = nrow(x))
  dimnames(link) <- list(rownames(x), colnames(coefficients))
  link
}

# Without the intercept, where there is one.
of_features <- function(coefficients, family) if (family == "cox") coefficients else coefficients[-1, , drop = FALSE]

# Of all classes or responses in one model; `coefficients` is a list of them.
predict_several <- function(x, coefficients, type) {
  names <- names(coefficients)
  link <- vapply(coefficients, function(one) link_of(x, one), matrix(0, nrow(x), ncol(coefficients[[1]])))
  link <- aperm(link, c(1, 3, 2))
  dimnames(link) <- list(rownames(x), names, colnames(coefficients[[1]]))
  if (type == "link") return(link)
  if (type == "response") return(shares(link))
  chosen <- apply(link, c(1, 3), which.max)
  chosen[] <- names[chosen]
  chosen
}

# A matrix whose first row is the intercept, but that of a Cox model; of all classes in one model a list of such.
path_coefficients <- function(object, s) {
  if (!has_several(object$family)) return(rows_at(rbind(object$a0, object$beta), object, s))
  names <- names(object$beta)
  all <- lapply(names, function(name) rows_at(rbind(object$a0[name, ], object$beta[[name]]), object, s))
  stats::setNames(all, names)
}

rows_at <- function(all, object, s) {
  beta <- if (is.list(object$beta)) object$beta[[1]] else object$beta
  dimnames(all) <- list(c(if (object$family != "cox") "(Intercept)", rownames(beta)), colnames(beta))
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

nonzero_features <- function(coefficients, family = "") {
  features <- apply(as.matrix(of_features(coefficients, family)) != 0, 2, which, simplify = FALSE)
  features <- lapply(features, unname)
  if (length(features) == 1) as.data.frame(features) else features
}

#' @rdname predict.sheaf_net
#' @export
coef.sheaf_net <- function(object, s = NULL, exact = FALSE, ...) {
  path_coefficients(exact_path(object, s, exact, list(...), parent.frame()), s)
}

# The path, with exact = TRUE trained again with the penalties `s` among its own.
exact_path <- function(object, s, exact, given, frame) {
  if (!one_flag(exact, "exact")) {
    if (length(given) > 0) stop_argument(names(given)[1] %||% "...", "is not an argument here without exact = TRUE")
    return(object)
  }
  if (is.null(s) || all(s %in% object$lambda)) return(object)
  data <- c("x", "y", "weights", "offset", "penalty.factor", "exclude", "lower.limits", "upper.limits")
  lacking <- setdiff(intersect(data, names(object$call)), names(given))
  if (length(lacking) > 0) {
    stop_argument("exact", "trains anew: give ", paste(lacking, collapse = ", "), " too, as in the call of sheaf_net()")
  }
  call <- object$call
  call[[1L]] <- sheaf_net
  call[names(given)] <- given
  call$lambda <- sort(unique(c(s, object$lambda)), decreasing = TRUE)
  eval(call, frame)
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
