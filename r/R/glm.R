#' Generalised linear models
#'
#' Models with standard errors, as `glm()`, `nnet::multinom()`, `MASS::glm.nb()` and `survival::coxph()` have them, and
#' models with an L2 penalty. All classes of a multinomial model are trained as one model.
#'
#' @details
#' For rows x with weights s each model minimises
#' `1 / sum(s) * sum(s * loss) + alpha / 2 * sum(coefficients^2)`
#' where the loss is minus the log-likelihood of a row; the intercept is not penalised. `alpha` is glmnet's `lambda` at
#' its `alpha = 0` and `standardize = FALSE`. A penalised model has no standard errors.
#'
#' Families, the default link first: `gaussian` (identity, log, inverse), `binomial` (logit, probit, cloglog, cauchit,
#' log), `multinomial`, `poisson` (log, identity, sqrt), `Gamma` (inverse, identity, log), `inverse.gaussian` (1/mu^2,
#' inverse, identity, log), `tweedie` (log), `negative.binomial` (log), `cox` (log), `quasibinomial` (as binomial),
#' `quasipoisson` (as poisson), and `quasi()` with the variance of one of them and its links. Links under which a linear
#' predictor must stay on one side of 0 need an intercept, take no offset, and keep it there for all rows. The
#' coefficients with a link that is not the family's usual one may be those of a local optimum, as in `glm()`.
#'
#' The response of a binomial model is a factor, whose first level is a failure as in `glm()`, numbers of 0 and 1,
#' shares with the numbers of trials as `weights`, or a matrix of successes and failures. Weights are kept to about
#' seven digits.
#'
#' A Cox model (family `"cox"`) minimises minus the log partial likelihood over the sum of weights in place of the mean
#' loss, and has no intercept. Its response is a `survival::Surv()` of times that are censored on the right, with a
#' start (`Surv(start, stop, event)`) or without, or a matrix with columns `time` and `status` (1: the event came; 0:
#' censored). In a formula `strata()` gives groups of rows a baseline hazard of their own and `cluster()` says whose
#' errors belong together; `tt()`, `frailty()`, `pspline()` and mixed effects are not offered: `survival::coxph()` and
#' package coxme have them. Mixed effects of other families are in lme4, generalised estimating equations in geepack.
#'
#' Standard errors that hold where the variance is not the family's come from the sandwich estimator
#' (`std_errors = "HC0"`, or `"HC1"`, which is right for fewer rows), as `sandwich::vcovHC()` and
#' `survival::coxph(robust = TRUE)` have them; `vcov()`, `confint()` and `summary()` follow. Shares of successes are not
#' for them: each outcome would count as a row.
#'
#' A penalised model counts effective parameters, the trace of the matrix that turns the response into means: `AIC()`,
#' `BIC()`, `logLik()`, the dispersion and `df.residual()` follow. They are `NA` of models with more than 1,500
#' coefficients, or with more than 2e10 rows times squared coefficients.
#'
#' `anova()` compares models of the same rows, response and family, each a part of the next; other models are an error.
#' Times of Cox models that differ by rounding alone tie, as in `survival::coxph()`.
#'
#' `confint()` gives Wald intervals: by Student's distribution where the dispersion is estimated, as `summary()`, else
#' by the normal one; `confint(method = "profile")` profiles the likelihood, as that of `glm()` does. `vcov()` of a
#' multinomial model names its rows `class:feature`; its `coef()` are differences from the first level, as in
#' `nnet::multinom()`.
#'
#' @param x a formula, or a matrix, sparse matrix or data frame of features without an intercept.
#' @param y the response: one entry or row for each row of `x`. Shares of successes, or two columns of successes and
#'   failures, are binomial; three columns or more of counts, one for each class, multinomial, as in `nnet::multinom()`.
#' @param formula,data,subset,na.action,contrasts as in [stats::glm()].
#' @param family a name, function or object; `NULL`: binomial or multinomial for a factor or counts of classes, cox for
#'   times and events, else gaussian. Quasi families (`quasibinomial()`, `quasipoisson()`) have `glm()`'s dispersion.
#' @param weights prior weights, as in `glm()`; `NULL`: 1.
#' @param offset added to the linear predictor. Not for multinomial models, nor for links under which linear predictors
#'   stay on one side of 0 (inverse, identity of counts ...).
#' @param alpha how much the L2 penalty weighs; 0: none.
#' @param power of a tweedie family: the variance is `mean^power`, above 1 and below 2.
#' @param theta of a negative binomial family; `NULL`: estimated, as by `MASS::glm.nb()`.
#' @param ties of a Cox model: what becomes of events at the same time.
#' @param strata of a Cox model of a matrix: the stratum of each row.
#' @param cluster what groups rows whose errors are not independent: standard errors are those of
#'   `sandwich::vcovCL(type = "HC0")` and of `survival::coxph(cluster = )`.
#' @param start coefficients at which training begins, in the order and shape of `coef()`; `NULL`: the model without
#'   features, which every link takes. Where the link allows several optima, it decides which one is found.
#' @param intercept whether models have an intercept; Cox models have none.
#' @param solver `"auto"` (newton up to 200 coefficients, else lbfgs), `"newton"`, `"newton-cg"`, `"lbfgs"`, `"saga"`
#'   (not for Cox models), `"gradient"` or `"accelerated"`; all find the same optimum.
#' @param tolerance training ends where the gradient is this share of the one at the start; `NULL`: 1e-8 for newton,
#'   1e-5 for the others.
#' @param maxit most iterations.
#' @param std_errors what standard errors come from: the `"expected"` information as in `glm()`, the `"observed"` one,
#'   which Cox models always take for it, or the sandwich estimator, `"HC0"`, `"HC1"` or `"cluster"`. `NULL`:
#'   `"cluster"` with `cluster`, `"HC0"` for Cox models with weights that are not whole numbers, as in
#'   `survival::coxph()`, else `"expected"`.
#' @param model whether to keep the model frame (formula) or the matrix: `anova()` and standard errors of predictions
#'   need it.
#' @param control see [sheaf_control()].
#' @param ... passed on to the default method.
#' @return An object of class `sheaf_glm` with the elements of a `glm` object that have a meaning here; a multinomial
#'   model is a `sheaf_multinom` too, and a Cox model a `sheaf_cox` with the elements of a `coxph` object.
#' @seealso [predict.sheaf_glm()], [predict.sheaf_cox()], [summary.sheaf_cox()], [cv_sheaf_net()] for penalties that
#'   select features.
#' @examples
#' fit <- sheaf_glm(case ~ age + parity + spontaneous, family = binomial, data = infert)
#' summary(fit)
#' anova(fit, test = "Chisq")
#'
#' counts <- sheaf_glm(breaks ~ wool + tension, family = "negative.binomial", data = warpbreaks)
#' counts$theta
#'
#' species <- sheaf_glm(as.matrix(iris[, 1:2]), iris$Species)
#' table(predict(species, type = "class"), iris$Species)
#' @export
sheaf_glm <- function(x, ...) UseMethod("sheaf_glm")

#' @rdname sheaf_glm
#' @export
sheaf_glm.formula <- function(formula, data, family = NULL, weights, subset, na.action, offset, cluster,
                              contrasts = NULL, model = TRUE, control = list(), ...) {
  call <- as_generic(match.call(), quote(sheaf_glm))
  shown <- call
  known <- if (missing(data)) NULL else data
  if (identical(family, "cox") || names_survival(formula)) refuse_specials(stats::terms(formula, data = known))
  call$formula <- with_specials(formula, known)
  frame <- frame_of(call, parent.frame(),
                    c("formula", "data", "subset", "weights", "na.action", "offset", "cluster"))
  terms <- attr(frame, "terms")
  response <- stats::model.response(frame)
  roles <- list(cluster = frame[["(cluster)"]])
  if (identical(family, "cox") || (is.null(family) && is_survival(response))) {
    # So that factors have contrasts: the hazard that all rows share stands for the intercept.
    attr(terms, "intercept") <- 1L
    named <- survival_roles(terms, frame)
    roles <- list(strata = named$strata, cluster = roles$cluster %||% named$cluster)
  } else if (length(unlist(attr(terms, "specials"))) > 0) {
    stop_argument("formula", "has strata() or cluster(), which are for Cox models; the argument cluster is for all")
  }
  design <- design_of(frame, terms, contrasts)
  if (ncol(design$x) == 0) design$x <- matrix(0, nrow(frame), 0L, dimnames = list(rownames(frame), NULL))
  fit <- fit_glm(design$x, response, family, stats::model.weights(frame), stats::model.offset(frame),
                 intercept = attr(terms, "intercept") == 1, control = control, strata = roles$strata,
                 cluster = roles$cluster, ...)
  fit$x <- NULL
  fit$call <- shown
  fit$formula <- stats::formula(terms)
  fit$terms <- terms
  fit$xlevels <- stats::.getXlevels(feature_terms(terms), frame)
  fit$contrasts <- design$contrasts
  fit$assign <- design$assign
  fit$na.action <- attr(frame, "na.action")
  fit$data <- if (missing(data)) environment(formula) else data
  if (model) fit$model <- frame
  if (inherits(fit, "sheaf_cox")) like_coxph(fit) else fit
}

#' @rdname sheaf_glm
#' @export
sheaf_glm.default <- function(x, y, family = NULL, weights = NULL, offset = NULL, alpha = 0, power = 1.5, theta = NULL,
                              start = NULL, intercept = TRUE,
                              solver = c("auto", "newton", "newton-cg", "lbfgs", "saga", "gradient", "accelerated"),
                              tolerance = NULL, maxit = 1000, ties = c("efron", "breslow"), strata = NULL,
                              cluster = NULL, std_errors = NULL, model = TRUE, control = list(), ...) {
  call <- as_generic(match.call(), quote(sheaf_glm))
  refuse_arguments(...)
  if (missing(y)) stop_argument("y", "is missing")
  fit <- fit_glm(x, y, family, weights, offset, alpha, power, theta, intercept, solver, tolerance, maxit, control,
                 ties, std_errors, strata, cluster, start)
  fit$call <- call
  if (!model) fit$x <- NULL
  fit
}

refuse_arguments <- function(...) {
  if (...length() == 0) return(invisible())
  name <- ...names()[1]
  if (name %in% c("etastart", "mustart")) stop_argument(name, "is not offered; start takes coefficients to begin with")
  stop_argument(name, "is not an argument of sheaf_glm()")
}

fit_glm <- function(x, y, family = NULL, weights = NULL, offset = NULL, alpha = 0, power = 1.5, theta = NULL,
                    intercept = TRUE, solver = "auto", tolerance = NULL, maxit = 1000, control = list(),
                    ties = "efron", std_errors = NULL, strata = NULL, cluster = NULL, start = NULL, ...) {
  refuse_arguments(...)
  if (NCOL(x) > 0) x <- as_features(x)
  rows <- nrow(x)
  if (is.null(y)) stop_argument("y", "is missing")
  if (NROW(y) != rows) stop_argument("y", "has ", counted(NROW(y), "entry"), " for ", counted(rows, "row"), " of 'x'")
  ties <- one_of(ties, c("efron", "breslow"), "ties")
  if (is.data.frame(y)) y <- as.matrix(y)
  if (!is.matrix(y)) y <- as_target(y, rows)
  kind <- read_family(family, y, power, theta)
  cox <- kind$name == "cox"
  if (cox) intercept <- FALSE
  if (!is.null(strata) && !cox) stop_argument("strata", "is for Cox models")
  response <- read_response(y, kind, check_weights(weights, rows), rows, strata)
  offset <- check_offset(offset, rows)
  if (!is.null(cluster)) check_rows(cluster, rows, "cluster")
  if (is.null(std_errors)) {
    fractional <- any(response$prior != floor(response$prior))
    std_errors <- if (!is.null(cluster)) "cluster" else if (cox && alpha == 0 && fractional) "HC0" else "expected"
  }
  std_errors <- one_of(std_errors, c("expected", "observed", "HC0", "HC1", "cluster"), "std_errors")
  if (std_errors == "cluster" && is.null(cluster)) stop_argument("cluster", "is missing: whose errors belong together")
  settings <- rbind(
    setting("family", core_family[[kind$name]]), setting("link", core_link[[kind$link]], "family"),
    setting("alpha", one_number(alpha, "alpha", 0)), setting("intercept", one_flag(intercept, "intercept")),
    setting("solver", one_of(solver, eval(formals(sheaf_glm.default)$solver), "solver")),
    setting("tolerance", tolerance), setting("max-iterations", maxit, "maxit"),
    if (kind$name == "tweedie") setting("power", kind$power),
    if (kind$name == "negative.binomial") setting("theta", kind$theta),
    if (cox) setting("ties", ties),
    if (is.factor(response$target)) setting("reference", present_levels(response$target)[1], "y")
  )
  if (alpha == 0 && ncol(x) + intercept >= sum(response$weights > 0)) {
    stop_argument("x", "has ", ncol(x), " columns, and ", sum(response$weights > 0), " rows do not determine as many ",
                  "coefficients; give a penalty (alpha), or fewer columns")
  }
  if (startsWith(std_errors, "HC") && length(response$rows) != rows) {
    stop_argument("std_errors", "\"", std_errors, "\" is for classes, not for shares of successes")
  }
  # The library wants a column: one of zeros has no weight.
  table <- if (ncol(x) == 0) matrix(0, rows, 1L) else x
  vectors <- list(offset = offset[response$rows],
                  start = start_weights(start, ncol(x), intercept, response$target, kind))
  vectors <- vectors[lengths(vectors) > 0]
  trained <- if (all(response$weights == 1)) NULL else response$weights
  if (!identical(response$rows, seq_len(rows))) table <- table[response$rows, , drop = FALSE]
  train <- function(errors) {
    core(core_fit(as_control(control), table,
                  about_features(table, core_target(response$target), cluster[response$rows]), "glm",
                  rbind(settings, setting("standard-errors", tolower(errors), "std_errors")), no_settings(), trained,
                  vectors, TRUE))
  }
  model <- train(std_errors)
  # coxph() has the errors of independent rows beside robust ones.
  if (cox && alpha == 0 && is_robust(std_errors)) model$naive <- train("observed")$glm
  if (ncol(x) == 0) model$warnings <- character()
  fit <- list(family_name = kind$name, alpha = alpha, intercept = intercept, prior.weights = response$prior,
              offset = offset, x = x, y = response$y, n_features = ncol(x), feature_names = colnames(x),
              control = control, converged = model$glm$converged, iter = model$glm$iterations,
              solver = model$glm$solver, separated = model$glm$separated, std_errors = std_errors, method = "sheaf_glm",
              levels = if (kind$name == "multinomial" && is.matrix(y)) colnames(response$y) else levels(y))
  if (kind$name == "negative.binomial") fit$theta_given <- !is.null(kind$theta)
  fit <- switch(kind$name, multinomial = finish_multinom(fit, model), cox = finish_cox(fit, model, response, ties),
                finish_glm(fit, model, kind, response))
  if (ncol(x) > 0) fit$kept <- keep_model(model)
  warn_each(model$warnings)
  fit
}

# Coefficients as the library takes them: the intercept last, each with a number for each class side by side, of which
# the first is that of the first level. NULL: none are given.
start_weights <- function(start, columns, intercept, target, kind) {
  if (is.null(start)) return(NULL)
  count <- columns + intercept
  several <- kind$name == "multinomial"
  classes <- if (several) length(present_levels(target)) else 2
  shape <- if (several) c(classes - 1, count) else count
  if (!is.numeric(start) || !identical(as.integer(if (several) dim(start) else length(start)), as.integer(shape))) {
    stop_argument("start", "must be ", if (several) paste0("a matrix of ", shape[1], " x "), count,
                  " numbers, as coef() of the model has them")
  }
  if (any(is.nan(start) | is.infinite(start))) stop_argument("start", "has a number that is not finite")
  start[is.na(start)] <- 0  # coefficients that the rows do not determine
  weights <- if (several) rbind(0, start) else matrix(start, 1)
  features <- weights[, seq_len(columns) + intercept, drop = FALSE]
  if (columns == 0) features <- matrix(0, nrow(weights), 1)  # the column of zeros
  as.vector(cbind(features, if (intercept) weights[, 1]))
}

# The response as the library takes it: classes or numbers with row weights. Shares of successes become a row for each
# outcome; `rows` says which row of x each one is, `trials` how many outcomes a row of successes and failures has.
read_response <- function(y, kind, weights, rows, strata = NULL) {
  prior <- if (is.null(weights)) rep(1, rows) else weights
  if (kind$name == "cox") {
    survival <- read_survival(y, rows, strata = strata)
    if (all(survival$event[prior > 0] == 0)) stop_argument("weights", "are 0 for all events")
    return(list(target = survival, y = y, prior = prior, weights = prior, rows = seq_len(rows)))
  }
  if (kind$name == "multinomial") {
    if (is.matrix(y)) return(read_class_counts(y, prior))
    y <- need_classes(y)
    return(list(target = y, y = y, prior = prior, weights = prior, rows = seq_len(rows)))
  }
  if (!kind$name %in% c("binomial", "quasibinomial")) {
    if (is.factor(y)) stop_argument("y", "is a factor, and the family ", kind$name, " is for numbers")
    if (is.matrix(y)) stop_argument("y", "must be a vector of numbers")
    return(list(target = y, y = y, prior = prior, weights = prior, rows = seq_len(rows)))
  }
  if (is.factor(y)) {
    if (nlevels(y) > 2) stop_argument("family", "binomial is for two classes, and 'y' has ", nlevels(y))
    y <- need_classes(y)
    return(list(target = y, y = as.double(y == levels(y)[2]), prior = prior, weights = prior, rows = seq_len(rows)))
  }
  trials <- NULL
  if (is.matrix(y)) {
    if (ncol(y) != 2 || !is.numeric(y) || anyNA(y) || any(y < 0)) {
      stop_argument("y", "must be a factor, shares, or two columns of successes and failures")
    }
    trials <- rowSums(y)
    prior <- prior * trials
    y <- ifelse(trials > 0, y[, 1] / trials, 0)
  }
  if (any(y < 0 | y > 1)) stop_argument("y", "of a binomial model must be from 0 to 1")
  classes <- function(success) factor(success, levels = c(FALSE, TRUE))
  if (all(y == 0 | y == 1)) {
    return(list(target = need_classes(classes(y == 1)), y = y, prior = prior, weights = prior, rows = seq_len(rows),
                trials = trials))
  }
  won <- which(y > 0)
  lost <- which(y < 1)
  list(target = classes(rep(c(TRUE, FALSE), c(length(won), length(lost)))), y = y, prior = prior,
       weights = c((prior * y)[won], (prior * (1 - y))[lost]), rows = c(won, lost), trials = trials)
}

# Counts of classes, a column for each: a row for each class that a row of `y` has. What becomes of it is the share of
# each class, and the number of all as a weight.
read_class_counts <- function(y, prior) {
  if (!is.numeric(y) || ncol(y) < 3 || anyNA(y) || any(y < 0)) {
    stop_argument("y", "must be a factor, or three columns or more of counts, for a multinomial model")
  }
  if (is.null(colnames(y))) colnames(y) <- seq_len(ncol(y))
  empty <- colSums(prior * y) == 0
  if (any(empty)) stop_argument("y", "has no counts of the class '", colnames(y)[empty][1], "'")
  cells <- which(y > 0, arr.ind = TRUE)
  totals <- rowSums(y)
  list(target = factor(colnames(y)[cells[, 2]], levels = colnames(y)), y = y / ifelse(totals > 0, totals, 1),
       prior = prior * totals, weights = unname(prior[cells[, 1]] * y[cells]), rows = unname(cells[, 1]))
}

named_coefficients <- function(weights, intercepts, fit) {
  names <- c(if (fit$intercept) "(Intercept)", if (fit$n_features > 0) feature_names(fit$x))
  values <- c(if (fit$intercept) intercepts, if (fit$n_features > 0) weights)
  stats::setNames(values, names)
}

# Standard errors (a column for each of `classes`, those of the library's columns that are wanted) and covariances. The
# library has the intercept last, R first. What the rows do not determine is 0 there, and NA here.
take_errors <- function(fit, found, names, classes = 1L) {
  if (is.null(found$errors)) return(fit)
  places <- seq_len(nrow(found$errors))
  if (fit$n_features == 0) places <- places[-1]
  if (fit$intercept) places <- c(places[length(places)], places[-length(places)])
  errors <- found$errors[places, classes, drop = FALSE]
  errors[errors == 0] <- NA
  each <- as.vector(outer(classes, (places - 1L) * ncol(found$errors), "+"))
  covariance <- found$covariance[each, each, drop = FALSE]
  unknown <- is.na(as.vector(t(errors)))
  covariance[unknown, ] <- NA
  covariance[, unknown] <- NA
  fit$std.error <- if (length(classes) == 1) stats::setNames(errors[, 1], names) else t(errors)
  fit$var <- structure(covariance, dimnames = list(names, names))
  fit
}

# Estimates without a standard error are NA as in glm(), unless it is separated classes that have none; those that the
# rows do not determine are 0.
mark_undetermined <- function(estimates, fit) {
  if (is.null(fit$std.error)) return(estimates)
  estimates[is.na(fit$std.error) & (!fit$separated | estimates == 0)] <- NA
  estimates
}

# The number of coefficients; of a penalised model the trace of the matrix that turns the response into
# means, which is less than their number; the library gives their number if the trace would take it long.
count_parameters <- function(fit, found, columns = 1L) {
  if (fit$n_features == 0) return(columns * fit$intercept)
  if (fit$alpha > 0 && found$parameters >= (fit$n_features + fit$intercept) * columns) return(NA_real_)
  found$parameters
}

is_robust <- function(std_errors) std_errors %in% c("HC0", "HC1", "cluster")

finish_glm <- function(fit, model, kind, response) {
  plain <- named_coefficients(model$coefficients$weights[, 1], model$coefficients$intercepts, fit)
  fit <- take_errors(fit, model$glm, names(plain))
  fit$coefficients <- mark_undetermined(plain, fit)
  parameter <- if (kind$name == "negative.binomial") model$glm$parameter else kind$power
  fit$family <- kind$quasi %||% make_family(kind$name, kind$link, parameter)
  if (kind$name == "negative.binomial") fit$theta <- parameter
  if (isFALSE(fit$theta_given)) fit$SE.theta <- model$glm$parameter_error
  eta <- linear_predictor(fit, fit$x, plain, fit$offset)
  mu <- fit$family$linkinv(eta)
  fit$linear.predictors <- eta
  fit$fitted.values <- mu
  w <- fit$prior.weights
  fit$weights <- w * fit$family$mu.eta(eta)^2 / fit$family$variance(mu)
  fit$residuals <- (fit$y - mu) / fit$family$mu.eta(eta)
  fit$deviance <- sum(fit$family$dev.resids(fit$y, mu, w))
  fit$null.deviance <- fit$deviance + model$glm$null_deviance - model$glm$deviance
  fit$edf <- count_parameters(fit, model$glm)
  fit$rank <- if (fit$alpha > 0) length(plain) else as.integer(fit$edf)
  used <- sum(w > 0)
  fit$df.residual <- used - if (fit$alpha > 0) fit$edf else fit$rank
  fit$df.null <- used - as.integer(fit$intercept)
  pearson <- sum((w * (fit$y - mu)^2 / fit$family$variance(mu))[w > 0])
  fit$dispersion <- if (estimates_dispersion(kind$name)) pearson / fit$df.residual else 1
  if (is_quasi(kind$name) && !is_robust(fit$std_errors) && !is.null(fit$var)) {
    fit$var <- fit$var * fit$dispersion
    fit$std.error <- fit$std.error * sqrt(fit$dispersion)
  }
  # glm() counts the dispersion too, and theta if it is estimated.
  extra <- if (isFALSE(fit$theta_given)) 2 else 0
  trials <- response$trials %||% rep(1, length(fit$y))
  fit$aic <- fit$family$aic(fit$y, trials, mu, w, fit$deviance) + 2 * fit$edf + extra
  class(fit) <- "sheaf_glm"
  fit
}

finish_multinom <- function(fit, model) {
  counts <- is.matrix(fit$y)
  order <- match(if (counts) colnames(fit$y) else present_levels(fit$y), model$levels)
  found <- model$coefficients
  full <- rbind(if (fit$intercept) matrix(found$intercepts, nrow = 1), if (fit$n_features > 0) found$weights)
  full <- full[, order, drop = FALSE]
  fit$lev <- model$levels[order]
  dimnames(full) <- list(c(if (fit$intercept) "(Intercept)", if (fit$n_features > 0) feature_names(fit$x)), fit$lev)
  fit$class_coefficients <- full
  fit$coefficients <- t(full[, -1, drop = FALSE] - full[, 1])
  # Columns of errors are the library's classes but the reference.
  others <- match(fit$lev[-1], setdiff(model$levels, fit$lev[1]))
  fit <- take_errors(fit, model$glm, coefficient_names(fit), others)
  if (!is.null(fit$std.error)) fit$std.error <- replace(fit$coefficients, TRUE, fit$std.error)
  fit$coefficients <- mark_undetermined(fit$coefficients, fit)
  eta <- linear_predictor(fit, fit$x, full, NULL)
  fit$fitted.values <- softmax(eta)
  dimnames(fit$fitted.values) <- list(rownames(fit$x), fit$lev)
  observed <- if (counts) fit$y else outer(as.character(fit$y), fit$lev, "==") * 1
  fit$residuals <- observed - fit$fitted.values
  w <- fit$prior.weights
  present <- observed > 0 & w > 0
  fit$deviance <- -2 * sum((w * observed * log(fit$fitted.values))[present])
  fit$null.deviance <- model$glm$null_deviance
  fit$edf <- count_parameters(fit, model$glm, length(fit$lev) - 1)
  fit$rank <- if (fit$alpha > 0) length(fit$coefficients) else as.integer(fit$edf)
  fit$df.residual <- sum(w > 0) * (length(fit$lev) - 1) - if (fit$alpha > 0) fit$edf else fit$rank
  fit$df.null <- sum(w > 0) * (length(fit$lev) - 1) - (length(fit$lev) - 1) * fit$intercept
  fit$dispersion <- 1
  fit$aic <- fit$deviance + 2 * fit$edf
  fit$family <- list(family = "multinomial", link = "logit")
  class(fit) <- c("sheaf_multinom", "sheaf_glm")
  fit
}

softmax <- function(eta) {
  eta <- exp(eta - do.call(pmax, as.data.frame(eta)))
  eta / rowSums(eta)
}

# `coefficients` are a vector, or a matrix with a column for each class. Coefficients that are NA count nothing.
linear_predictor <- function(fit, x, coefficients, offset) {
  coefficients[is.na(coefficients)] <- 0
  several <- is.matrix(coefficients)
  if (!several) coefficients <- as.matrix(coefficients)
  features <- if (fit$intercept) coefficients[-1, , drop = FALSE] else coefficients
  eta <- if (nrow(features) > 0) as.matrix(x %*% features) else matrix(0, nrow(x), ncol(coefficients))
  if (fit$intercept) eta <- eta + rep(coefficients[1, ], each = nrow(x))
  if (several) return(eta)
  eta <- stats::setNames(eta[, 1], rownames(x))
  if (is.null(offset)) eta else eta + offset
}
