# The response, the loss and the limits of elastic nets, checked.

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
  if (nrow(y) != nrow(x)) {
    stop_argument("y", "has ", counted(nrow(y), "row"), " for ", counted(nrow(x), "row"), " of 'x'")
  }
  classes <- colnames(y) %||% c("1", "2")
  weights <- check_weights(weights, nrow(x)) %||% rep(1, nrow(x))
  cells <- which(y > 0, arr.ind = TRUE)
  rows <- unname(cells[, 1])
  list(rows = rows, y = factor(classes[cells[, 2]], levels = classes), weights = weights[rows] * y[cells],
       offset = check_offset(offset, nrow(x))[rows], nobs = nrow(x),
       saturated = 2 * log(y[cells] / rowSums(y)[rows]))
}

# Everything but the penalties, checked. `scale` is what each response is divided by (mgaussian); `classnames` are those
# of the classes or responses, where there are several in one model.
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
  if (!has_several(family)) offset <- check_offset(offset, rows)
  if (!is.numeric(penalty.factor) || anyNA(penalty.factor) || any(penalty.factor < 0)) {
    stop_argument("penalty.factor", "must be numbers of 0 or more")
  }
  if (length(penalty.factor) != ncol(x)) {
    stop_argument("penalty.factor", "has ", counted(length(penalty.factor), "entry"), " for ", counted(ncol(x), "column"))
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
      stop_argument(name, "has ", counted(length(limits), "entry"), " for ", counted(columns, "column"))
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
  if (nrow(y) != rows) stop_argument("y", "has ", counted(nrow(y), "row"), ", and x has ", rows)
  if (ncol(y) < 2) stop_argument("y", "has one column; use the family gaussian")
  if (any(!is.finite(y))) stop_argument("y", "row ", row(y)[!is.finite(y)][1], " has a number that is not finite")
  if (is.null(colnames(y))) colnames(y) <- paste0("y", seq_len(ncol(y)))
  storage.mode(y) <- "double"
  y
}

responses_target <- function(problem, y) {
  problem["offset"] <- list(check_offsets(problem$offset, problem$rows, ncol(y)))
  if (!is.null(problem$offset)) y <- y - problem$offset
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
  y <- need_classes(y)
  problem$classnames <- present_levels(y)
  problem$classes <- length(problem$classnames)
  problem["offset"] <- list(check_offsets(problem$offset, problem$rows, problem$classes))
  problem$response <- outer(as.character(y), problem$classnames, "==") + 0
  problem$target <- as.vector(t(problem$response))
  problem
}

# Whether offsets are taken off the target, and not known to the compiled part; of mgaussian off the response too.
is_of_numbers <- function(family) family %in% c("gaussian", "mgaussian", "huber", "quantile")

# A column for each class or response, as in glmnet.
check_offsets <- function(offset, rows, columns, argument = "offset") {
  if (is.null(offset)) return(NULL)
  offset <- as.matrix(offset)
  if (!is.numeric(offset) || ncol(offset) != columns) {
    stop_argument(argument, "must have a column of numbers for each of the ", columns, " classes or responses")
  }
  check_rows(offset, rows, argument)
  storage.mode(offset) <- "double"
  unname(offset)
}

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
