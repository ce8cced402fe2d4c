# Relaxed elastic nets: at each penalty the model without a penalty of the features that have a coefficient there, and
# mixtures of both (Meinshausen, Relaxed Lasso; as in glmnet). `gamma` is the share of the penalised model.

check_relax <- function(relax, family) {
  # Without a penalty a linear program is left, whose solution training does not come near enough to.
  if (one_flag(relax, "relax") && family == "quantile") stop_argument("relax", "is not for the family quantile")
}

check_maxp <- function(maxp) if (!is.null(maxp)) one_number(maxp, "maxp", 0)

# Sorted, each once.
check_gammas <- function(gamma) {
  if (!is.numeric(gamma) || length(gamma) == 0 || anyNA(gamma) || any(gamma < 0 | gamma > 1)) {
    stop_argument("gamma", "must be numbers from 0 to 1")
  }
  sort(unique(gamma))
}

# The features that have a coefficient at each penalty: `features` are those of all columns of coefficients from 0,
# `counts` how many each column has, and `steps` which penalty it is of.
active_sets <- function(features, counts, steps) {
  sets <- split(features + 1L, factor(rep(steps, counts), unique(steps)))
  unname(lapply(sets, function(one) sort(unique(one))))
}

# Of each penalty the one whose relaxed model is taken: its own or, where that has too many features, that of the last
# penalty that has not.
relaxed_steps <- function(sets, maxp) {
  few <- lengths(sets) <= maxp
  if (!any(few)) stop_argument("maxp", "is ", maxp, ", and models have ", min(lengths(sets)), " features or more")
  ifelse(few, seq_along(sets), max(which(few)))
}

set_names <- function(sets) vapply(sets, paste, "", collapse = " ")

# `path` with its relaxed models.
relax_path <- function(problem, x, path, maxp) {
  beta <- if (is.list(path$beta)) path$beta else list(path$beta)
  sets <- active_sets(unlist(lapply(beta, function(one) one@i)), unlist(lapply(beta, function(one) diff(one@p))),
                      rep(seq_along(path$lambda), length(beta)))
  steps <- sort(unique(relaxed_steps(sets, if (is.null(maxp)) problem$rows - 3 else maxp)))
  sets <- sets[steps]
  names <- set_names(sets)
  chosen <- !duplicated(names) & nzchar(names)
  models <- lapply(sets[chosen], train_unpenalised, problem = problem, x = x)
  warn_relaxed(models, problem)
  names(models) <- names[chosen]
  path$relaxed <- with_models(path_at(path, steps), sets, models[names[nzchar(names)]])
  structure(path, class = c("sheaf_relaxed", class(path)))
}

# `path` with other coefficients where `sets` are not empty: those of `models`, one for each such set.
with_models <- function(path, sets, models) {
  changed <- which(lengths(sets) > 0)
  path$dev.ratio[changed] <- vapply(models, `[[`, 0, "dev.ratio")
  if (is.matrix(path$a0)) {
    path$a0[, changed] <- vapply(models, `[[`, path$a0[, 1], "a0")
  } else if (!is.null(path$a0)) {
    path$a0[changed] <- vapply(models, `[[`, 0, "a0")
  }
  columns <- function(old, class) {
    weights <- unlist(lapply(models, function(model) model$weights[, class]), use.names = FALSE)
    Matrix::drop0(sparse_columns(unlist(sets) - 1L, c(0L, cumsum(lengths(sets))), as.double(weights), dim(old),
                                 dimnames(old)))
  }
  path$beta <- if (is.list(path$beta)) Map(columns, path$beta, seq_along(path$beta)) else columns(path$beta, 1L)
  path
}

# The models of some penalties of a path.
path_at <- function(path, steps) {
  columns <- function(one) one[, steps, drop = FALSE]
  path$beta <- if (is.list(path$beta)) lapply(path$beta, columns) else columns(path$beta)
  path$a0 <- if (is.matrix(path$a0)) columns(path$a0) else path$a0[steps]
  if (!is.null(path$dfmat)) path$dfmat <- columns(path$dfmat)
  for (name in c("df", "lambda", "dev.ratio")) path[[name]] <- path[[name]][steps]
  path$dim[2] <- length(steps)
  path
}

# The model of the features of a set without a penalty: `weights` are features x classes.
train_unpenalised <- function(set, problem, x) {
  x <- x[, set, drop = FALSE]
  trained <- train_nets(without_penalty(problem, set), x, 0)
  scale <- rep_len(problem$scale, problem$classes)
  weights <- as.matrix(sparse_columns(trained$i, trained$p, trained$x * rep(scale, diff(trained$p)),
                                      c(length(set), problem$classes)))
  link <- as_link(problem, trained$decisions)
  fit <- explained(problem, link)
  list(weights = weights, a0 = trained$a0 * scale, dev.ratio = fit$share, converged = trained$unconverged == 0,
       separated = fit$certain, determined = is_determined(problem, x))
}

# Without a penalty the objective may be flat, so that the gap says less of coefficients.
without_penalty <- function(problem, set) {
  problem$penalty_factors <- numeric()
  for (limits in c("lower_limits", "upper_limits")) {
    if (length(problem[[limits]]) > 0) problem[[limits]] <- problem[[limits]][set]
  }
  problem$tolerance <- min(problem$tolerance, 1e-12)
  problem
}

# Whether no column is a linear combination of others and the intercept (Cox: of what the rows of a stratum share, for
# only rows of one stratum are compared, of which some event is).
is_determined <- function(problem, x) {
  groups <- if (problem$family == "cox") problem$survival$strata %||% rep(0L, problem$rows)
  counted <- row_weights(problem) > 0
  if (!is.null(groups)) counted <- counted & groups %in% groups[counted & problem$survival$event == 1]
  x <- as.matrix(x[counted, , drop = FALSE])
  if (problem$intercept) groups <- rep(0L, problem$rows)
  if (!is.null(groups)) x <- within_groups(x, groups[counted])
  qr(x)$rank == ncol(x)
}

# Columns less their means in groups of rows; 0 where they differ by rounding alone.
within_groups <- function(x, groups) {
  groups <- match(groups, unique(groups))
  size <- sqrt(colSums(x^2))
  x <- x - (rowsum(x, groups) / tabulate(groups))[groups, , drop = FALSE]
  x[, sqrt(colSums(x^2)) <= 1e-10 * size] <- 0
  x
}

warn_relaxed <- function(models, problem) {
  count <- function(name) sum(vapply(models, `[[`, NA, name))
  of_all <- paste(" of", length(models), "relaxed models: ")
  unconverged <- length(models) - count("converged")
  undetermined <- length(models) - count("determined")
  if (unconverged > 0) {
    warning(unconverged, of_all, "training did not converge within maxit = ", problem$max_epochs, " passes",
            call. = FALSE)
  }
  if (count("separated") > 0) {
    warning(count("separated"), of_all, if (problem$family == "poisson") "the rate of some row is 0"
            else "the class of some row is certain",
            " but for one in a hundred thousand; features that separate rows have coefficients without end, which say ",
            "little (a smaller maxp leaves such models out)", call. = FALSE)
  }
  if (undetermined > 0) {
    warning(undetermined, of_all, "coefficients are not determined, for features are linear combinations of others",
            call. = FALSE)
  }
}

# Decision values of the rows that each fold held out, as train_folds() has them: of its `path`, and of its `relaxed`
# models.
train_relaxed_folds <- function(problem, x, lambda, folds, maxp) {
  weights <- fold_weights(problem, folds)
  found <- train_fold_paths(problem, x, lambda, weights, folds, maxp)
  uses <- do.call(rbind, found$uses)
  uses <- uses[nzchar(uses$name), ]
  unconverged <- 0
  # All folds that have a set of features train it in one call.
  for (use in split(uses, uses$name)) {
    on <- unique(use$fold)
    set <- use$set[[1]]
    trained <- train_nets(without_penalty(problem, set), x[, set, drop = FALSE], 0, weights[, on, drop = FALSE],
                          if (problem$family == "cox") integer() else match(folds + 1L, on, 0L) - 1L)
    unconverged <- unconverged + trained$unconverged
    for (fold in on) {
      columns <- class_columns(problem, use$step[use$fold == fold])
      from <- if (problem$family == "cox") match(fold, on) else seq_len(problem$classes)
      place <- found$places[[fold]]
      found$relaxed[place$rows, columns, place$slice] <- trained$decisions[place$rows, from]
    }
  }
  if (unconverged > 0) {
    warning(unconverged, " relaxed models of folds did not converge within maxit = ", problem$max_epochs, " passes",
            call. = FALSE)
  }
  lapply(found[c("path", "relaxed")], function(values) {
    fold_links(problem, matrix(values, problem$rows), ncol(weights))
  })
}

# The same of paths alone: where their relaxed models have no features, or too many, `relaxed` has what stands in for
# them. `uses` says which features each fold has at each penalty, and `places` where its values are: of Cox models, for
# which those of all rows are needed, each fold has a slice of its own.
train_fold_paths <- function(problem, x, lambda, weights, folds, maxp) {
  cox <- problem$family == "cox"
  every <- seq_len(ncol(weights))
  places <- lapply(every, function(fold) {
    if (cox) list(rows = seq_len(problem$rows), slice = fold) else list(rows = which(folds == fold - 1L), slice = 1L)
  })
  path <- relaxed <- array(0, c(problem$rows, length(lambda) * problem$classes, if (cox) ncol(weights) else 1L))
  unconverged <- 0
  uses <- vector("list", ncol(weights))
  for (fold in every) {
    trained <- train_nets(problem, x, lambda, weights[, fold, drop = FALSE])
    unconverged <- unconverged + trained$unconverged
    sets <- active_sets(trained$i, diff(trained$p), rep(seq_along(lambda), each = problem$classes))
    steps <- relaxed_steps(sets, if (is.null(maxp)) sum(folds != fold - 1L) - 3 else maxp)
    uses[[fold]] <- data.frame(fold = fold, step = seq_along(lambda), name = set_names(sets[steps]))
    uses[[fold]]$set <- sets[steps]
    rows <- places[[fold]]$rows
    path[rows, , places[[fold]]$slice] <- trained$decisions[rows, ]
    relaxed[rows, , places[[fold]]$slice] <- trained$decisions[rows, class_columns(problem, steps)]
  }
  warn_unconverged(unconverged, problem)
  list(path = path, relaxed = relaxed, uses = uses, places = places)
}

# The columns of decision values of all classes at the penalties `steps`.
class_columns <- function(problem, steps) {
  rep((steps - 1L) * problem$classes, each = problem$classes) + seq_len(problem$classes)
}

# Of each gamma and, at the end, of 1.
mix_folds <- function(links, gammas) {
  gammas <- union(gammas, 1)
  mixed <- lapply(gammas, function(gamma) mix(links$path, links$relaxed, gamma))
  stats::setNames(mixed, paste0("g:", gammas))
}

# Exact where both are the same, so that penalties without features tie for all gammas.
mix <- function(path, relaxed, gamma) relaxed + gamma * (path - relaxed)

# The best pair of lambda and gamma, and the largest one within a standard error of it: by lambda, then by gamma.
best_mixture <- function(scores, gammas, type) {
  table <- do.call(rbind, lapply(seq_along(gammas), function(g) {
    one <- scores[[g]]
    data.frame(lambda = one$lambda, gamma = gammas[g], cvm = one$cvm, cvsd = one$cvsd, nzero = one$nzero,
               step = seq_along(one$lambda), place = g)
  }))
  places <- core_choose_net(table$lambda, table$gamma, table$cvm, table$cvsd, type)
  best <- table[places[1], ]
  near <- table[places[2], ]
  index <- rbind(min = c(Lambda = best$step, Gamma = best$place), `1se` = c(near$step, near$place))
  list(lambda.min = best$lambda, lambda.1se = near$lambda, gamma.min = best$gamma, gamma.1se = near$gamma,
       nzero.min = best$nzero, nzero.1se = near$nzero, index = index)
}

# The path of mixtures, with the penalties that have no relaxed model (`extend`) or without them.
mix_path <- function(object, gamma, extend = TRUE) {
  one_number(gamma, "gamma", 0, 1)
  relaxed <- object$relaxed
  path <- object
  path$relaxed <- NULL
  class(path) <- setdiff(class(path), "sheaf_relaxed")
  if (gamma == 1) return(path)
  if (!extend) path <- path_at(path, match(relaxed$lambda, path$lambda))
  relaxed <- path_at(relaxed, match(path$lambda, relaxed$lambda, length(relaxed$lambda)))
  path$beta <- if (is.list(path$beta)) {
    Map(mix, path$beta, relaxed$beta, gamma)
  } else {
    mix(path$beta, relaxed$beta, gamma)
  }
  path$a0 <- if (!is.null(path$a0)) mix(path$a0, relaxed$a0, gamma)
  path$dev.ratio <- mix(path$dev.ratio, relaxed$dev.ratio, gamma)
  path
}

#' @rdname predict.sheaf_net
#' @export
predict.sheaf_relaxed <- function(object, newx, s = NULL, gamma = 1,
                                  type = c("link", "response", "coefficients", "nonzero", "class"), exact = FALSE,
                                  newoffset = NULL, ...) {
  object <- exact_path(object, s, exact, list(...), parent.frame())
  stats::predict(mix_path(object, gamma), newx, s, type, newoffset = newoffset)
}

#' @rdname predict.sheaf_net
#' @export
coef.sheaf_relaxed <- function(object, s = NULL, gamma = 1, exact = FALSE, ...) {
  stats::coef(mix_path(exact_path(object, s, exact, list(...), parent.frame()), gamma), s)
}

#' @export
print.sheaf_relaxed <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat("\nCall: ", deparse(x$call), "\nRelaxed\n\n")
  explained <- round(100 * x$relaxed$dev.ratio, 2)[match(x$lambda, x$relaxed$lambda)]
  print(data.frame(Df = x$df, `%Dev` = round(x$dev.ratio * 100, 2), `%Dev R` = explained,
                   Lambda = signif(x$lambda, digits), check.names = FALSE, row.names = seq_along(x$df)))
  invisible(x)
}

#' @rdname plot.sheaf_net
#' @param gamma of relaxed models: the share of the penalised model; 1 is the elastic net, 0 the relaxed model.
#' @export
plot.sheaf_relaxed <- function(x, xvar = c("lambda", "dev"), label = FALSE, gamma = 1, ...) {
  xvar <- one_of(xvar, c("lambda", "dev"), "xvar")
  plot(mix_path(x, gamma, extend = FALSE), xvar = xvar, label = label, ...)
  invisible(x)
}

# Numbers for what predict() and coef() take of a cross-validation: the gamma that belongs to lambda.1se or lambda.min,
# unless there is another.
pair_of <- function(object, s, gamma) {
  s <- lambda_of(object$relaxed, s)
  if (is.null(gamma)) gamma <- if (identical(names(s), "lambda.min")) "gamma.min" else "gamma.1se"
  if (!is.numeric(gamma)) gamma <- object$relaxed[[one_of(gamma, c("gamma.1se", "gamma.min"), "gamma")]]
  list(s = s, gamma = gamma)
}

#' @rdname predict.sheaf_net
#' @export
predict.cv_sheaf_relaxed <- function(object, newx, s = c("lambda.1se", "lambda.min"), gamma = NULL, ...) {
  pair <- pair_of(object, s, gamma)
  stats::predict(object$glmnet.fit, newx, s = pair$s, gamma = pair$gamma, ...)
}

#' @rdname predict.sheaf_net
#' @export
coef.cv_sheaf_relaxed <- function(object, s = c("lambda.1se", "lambda.min"), gamma = NULL, ...) {
  pair <- pair_of(object, s, gamma)
  stats::coef(object$glmnet.fit, s = pair$s, gamma = pair$gamma, ...)
}

#' @export
print.cv_sheaf_relaxed <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat("\nCall: ", deparse(x$call), "\n\n")
  cat("Measure:", x$name, "\n\n")
  best <- x$relaxed
  at <- function(name) mapply(function(g, step) best$statlist[[g]][[name]][step], best$index[, 2], best$index[, 1])
  print(data.frame(Gamma = c(best$gamma.min, best$gamma.1se), Index = best$index[, 2],
                   Lambda = signif(at("lambda"), digits), Index = best$index[, 1], Measure = signif(at("cvm"), digits),
                   SE = signif(at("cvsd"), digits), Nonzero = c(best$nzero.min, best$nzero.1se), check.names = FALSE))
  invisible(x)
}

#' @rdname plot.cv_sheaf_net
#' @param se.bands of relaxed models: whether to draw bands of a standard error on either side.
#' @export
plot.cv_sheaf_relaxed <- function(x, se.bands = TRUE, ...) {
  scores <- x$relaxed$statlist
  along <- log(x$lambda)
  curves <- vapply(scores, `[[`, along, "cvm")
  colours <- grDevices::rainbow(length(scores), start = 0.1)
  bands <- if (se.bands) lapply(scores, function(one) c(one$cvup, rev(one$cvlo)))
  defaults <- list(x = range(along), y = range(curves, unlist(bands)), xlab = "Log(lambda)", ylab = x$name, type = "n")
  do.call(graphics::plot, utils::modifyList(defaults, list(...)))
  for (band in bands) graphics::polygon(c(along, rev(along)), band, col = "floralwhite", border = "antiquewhite")
  graphics::matlines(along, curves, lty = 1, lwd = 2, col = colours)
  graphics::axis(3, at = along, labels = x$nzero, tick = FALSE, line = 0)
  graphics::abline(v = log(c(x$relaxed$lambda.min, x$relaxed$lambda.1se)), lty = 3)
  graphics::legend("topleft", legend = x$relaxed$gamma, title = "gamma", col = colours, lty = 1, lwd = 2, bty = "n")
  invisible(x)
}
