# Paths of elastic nets: what the compiled part is given, and where paths end.

# For the compiled part. `weights`: rows x paths; `folds`: from 0, the path whose decision value of a row is wanted, or
# nothing: those of all paths.
net_options <- function(problem, alphas, weights, folds) {
  list(weights = weights, alphas = alphas, l1_ratio = problem$l1_ratio, penalty_factors = problem$penalty_factors,
       lower_limits = problem$lower_limits / problem$scale[1], upper_limits = problem$upper_limits / problem$scale[1],
       loss = net_loss(problem$family),
       loss_parameter = problem$loss_parameter,
       classes = problem$classes,
       tolerance = problem$tolerance, max_epochs = problem$max_epochs,
       offsets = if (is_of_numbers(problem$family)) numeric() else by_rows(problem$offset),
       intercept = problem$intercept, standardise = problem$standardise, grouped = problem$grouped,
       relative_l2 = problem$family %in% c("gaussian", "huber", "quantile"), folds = folds, shared = problem$shared) |>
    c(risk_times(problem$survival))
}

# A matrix with a column for each class, as the compiled part has tables.
by_rows <- function(offset) if (is.null(offset)) numeric() else as.vector(if (is.matrix(offset)) t(offset) else offset)

net_loss <- function(family) {
  switch(family, gaussian = , mgaussian = "squared", binomial = "logistic", multinomial = "softmax", family)
}

# The truth that decision values are compared with, for the compiled part.
net_response <- function(problem) {
  targets <- switch(problem$family, binomial = problem$target, cox = problem$survival$event, problem$response)
  list(loss = net_loss(problem$family), parameter = problem$loss_parameter %||% 0, classes = NCOL(targets),
       targets = as.double(targets), weights = problem$weights %||% numeric(),
       offsets = if (problem$family == "mgaussian") numeric() else as.double(problem$offset),
       saturated = problem$saturated %||% numeric()) |>
    c(risk_times(problem$survival))
}

# Decision values of the compiled part on the scale of the response, with offsets: rows x penalties, of several classes
# rows x classes x penalties.
as_link <- function(problem, decisions) {
  if (problem$classes > 1) {
    decisions <- decisions * rep(problem$scale, each = problem$rows)
    if (problem$family == "multinomial") decisions <- decisions + as.vector(problem$offset %||% 0)
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

# Results of the compiled part: for the paths of all columns of `weights` decision values, and of a single path its
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
  # Class k at all penalties that are kept.
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
  fit$penalty <- list(alpha = problem$l1_ratio, standardize = problem$standardise)
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
    warning(counted(count, "model"), " did not converge within maxit = ", problem$max_epochs, " passes", call. = FALSE)
  }
}

# The end of glmnet's paths (its fdev, devmax and mnlam). With a limit of 0 it does not ask how little a step explains.
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

# The end of glmnet's paths by the number of features that have a coefficient, or have had one.
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
