# Objects of glm() and coxph() with our estimates, and the methods that rest on them.

#' Models of stats and survival with these estimates
#'
#' For functions that know `glm()` or `coxph()` objects only: `as_glm()` makes a `glm` object of a [sheaf_glm()], and
#' `as_coxph()` a `survival::coxph` object of one of family `"cox"`, at its coefficients; nothing is trained anew.
#'
#' Methods of this package use them where these packages have the mathematics: `influence()`, `rstudent()`,
#' `dfbeta()`, `dfbetas()`, `profile()` and the intervals by it of `confint()`, score tests of `anova()`, terms of
#' `predict()` and partial `residuals()`; of Cox models `survival::survfit()`, `survival::concordance()`,
#' `survival::basehaz()`, `survival::cox.zph()`, expected events and survival of `predict()`, and score, Schoenfeld and
#' dfbeta `residuals()`. A Cox model of a formula is a `coxph` object too. Functions for `glm()` that are not generic
#' take what `as_glm()` makes: `stats::add1(as_glm(fit), ~ . + x)`.
#'
#' @param object a [sheaf_glm()] without a penalty; of `as_coxph()` one of a formula. Multinomial and tweedie models
#'   have no such objects; negative binomial ones need package MASS.
#' @return A `glm` or `coxph` object.
#' @examples
#' fit <- sheaf_glm(am ~ wt, family = binomial, data = mtcars)
#' car <- as_glm(fit)
#' stats::add1(car, ~ . + hp, test = "Chisq")
#' @export
as_glm <- function(object) {
  if (!inherits(object, "sheaf_glm")) stop_argument("object", "must be a model of sheaf_glm()")
  if (inherits(object, "sheaf_cox")) stop_argument("object", "is a Cox model: use as_coxph()")
  if (inherits(object, "sheaf_multinom")) stop_argument("object", "is a multinomial model, and glm() has none")
  need_unpenalised(object)
  family <- glm_family(object)
  x <- as.matrix(model_matrix(object))
  start <- replace(object$coefficients, is.na(object$coefficients), 0)
  # One step of Newton's method from the optimum, which leaves it where it is.
  y <- stats::setNames(object$y, rownames(x))
  fit <- suppressWarnings(stats::glm.fit(x, y, object$prior.weights, start = start,
                                         offset = object$offset %||% rep(0, nrow(x)), family = family,
                                         control = stats::glm.control(epsilon = 1e100, maxit = 1),
                                         intercept = object$intercept))
  fit$aic <- object$aic
  fit$converged <- object$converged
  further <- c("call", "formula", "terms", "data", "contrasts", "xlevels", "na.action", "model")
  fit <- c(fit, object[intersect(further, names(object))],
           list(offset = object$offset, control = exact_control(), method = "glm.fit"))
  structure(fit, class = c("glm", "lm"))
}

exact_control <- function() stats::glm.control(epsilon = 1e-14, maxit = 100)

need_unpenalised <- function(object) {
  if (object$alpha > 0) stop_argument("object", "has a penalty: its coefficients are no optimum of the likelihood")
}

glm_family <- function(object) {
  if (object$family_name == "tweedie") stop_argument("object", "is a tweedie model, and stats has no such family")
  if (object$family_name != "negative.binomial") return(object$family)
  if (!requireNamespace("MASS", quietly = TRUE)) stop_sheaf("negative binomial models need package MASS here")
  MASS::negative.binomial(object$theta)
}

#' @rdname as_glm
#' @export
as_coxph <- function(object) {
  if (!inherits(object, "sheaf_cox")) stop_argument("object", "must be a model of sheaf_glm() of family \"cox\"")
  need_unpenalised(object)
  if (!requireNamespace("survival", quietly = TRUE)) stop_sheaf("package survival is needed for this")
  if (is.null(object$formula)) stop_argument("object", "was trained on a matrix: train it by a formula")
  if (!is.null(object$call$offset)) stop_argument("object", "has an offset of its own: put it into the formula")
  if (object$n_features == 0) stop_argument("object", "has no features")
  call <- object$call[c(1L, match(c("weights", "subset", "na.action", "cluster"), names(object$call), 0L))]
  call[[1L]] <- quote(survival::coxph)
  call$formula <- object$formula
  call$data <- quote(data)
  call$init <- replace(unname(object$coefficients), is.na(object$coefficients), 0)
  call$ties <- object$ties
  if (object$std_errors != "cluster") call$robust <- is_robust(object$std_errors)
  # With starts coxph() has robust errors of clusters alone: each row is one.
  late <- inherits(object$y, "Surv") && attr(object$y, "type") == "counting"
  if (late && isTRUE(call$robust)) call$cluster <- quote(seq_len(nrow(data)))
  call$control <- survival::coxph.control(iter.max = 0)
  call[c("x", "y", "model")] <- TRUE
  fit <- eval(call, list(data = object$data), environment(object$formula))
  fit$call <- object$call
  fit
}

#' @rdname diagnostics
#' @importFrom stats influence
#' @export
influence.sheaf_glm <- function(model, ...) stats::influence(as_glm(model), ...)

#' @rdname diagnostics
#' @importFrom stats rstudent
#' @export
rstudent.sheaf_glm <- function(model, ...) stats::rstudent(as_glm(model), ...)

#' @rdname diagnostics
#' @importFrom stats dfbeta
#' @export
dfbeta.sheaf_glm <- function(model, ...) stats::dfbeta(as_glm(model), ...)

#' @rdname diagnostics
#' @importFrom stats dfbetas
#' @export
dfbetas.sheaf_glm <- function(model, ...) stats::dfbetas(as_glm(model), ...)

# Functions of stats that are not generic, and read parts of lm() objects.
as_known <- function(model) if (inherits(model, "sheaf_glm")) as_glm(model) else model

# Its name is that of a method too, which no class has.
#' @rdname diagnostics
#' @export
#' @rawNamespace export(influence.measures)
influence.measures <- function(model, ...) stats::influence.measures(as_known(model), ...)

#' @rdname diagnostics
#' @export
dffits <- function(model, ...) stats::dffits(as_known(model), ...)

#' @rdname diagnostics
#' @export
covratio <- function(model, ...) stats::covratio(as_known(model), ...)

#' @rdname diagnostics
#' @importFrom stats profile
#' @export
profile.sheaf_glm <- function(fitted, ...) stats::profile(as_glm(fitted), ...)

#' Survival curves of a Cox model
#'
#' As of `survival::coxph()`, by package survival.
#'
#' @param formula,object a [sheaf_glm()] of family `"cox"`, trained by a formula.
#' @param ... passed on to `survival::survfit.coxph()` or `survival::concordance.coxph()`, such as `newdata`.
#' @return What these functions return.
#' @examplesIf requireNamespace("survival", quietly = TRUE)
#' fit <- sheaf_glm(survival::Surv(time, status) ~ age + sex, data = survival::lung)
#' survival::survfit(fit, newdata = data.frame(age = 60, sex = 1:2))
#' survival::concordance(fit)
#' @name survfit
#' @exportS3Method survival::survfit
survfit.sheaf_cox <- function(formula, ...) survival::survfit(as_coxph(formula), ...)

#' @rdname survfit
#' @exportS3Method survival::concordance
concordance.sheaf_cox <- function(object, ...) survival::concordance(as_coxph(object), ...)

# For package sandwich: scores of rows, and the inverse of the information times the rows.
#' @exportS3Method sandwich::estfun
estfun.sheaf_glm <- function(x, ...) {
  if (inherits(x, "sheaf_cox")) return(sandwich::estfun(as_coxph(x), ...))
  sandwich::estfun(as_glm(x), ...)
}

#' @exportS3Method sandwich::bread
bread.sheaf_glm <- function(x, ...) {
  if (inherits(x, "sheaf_cox")) return(sandwich::bread(as_coxph(x), ...))
  sandwich::bread(as_glm(x), ...)
}

# Resampled rows are trained on anew by update(), which finds them where the formula looks: in sandwich too if that is
# not attached.
#' @exportS3Method sandwich::vcovBS
vcovBS.sheaf_glm <- function(x, ...) {
  if (is.null(x$formula)) stop_argument("x", "was trained on a matrix: train it by a formula")
  if (is.matrix(x$coefficients)) stop_argument("x", "is a multinomial model, and vcovBS() takes one column of coefficients")
  visible <- new.env(parent = environment(x$terms))
  assign(".vcovBSenv", sandwich::.vcovBSenv, envir = visible)
  environment(x$terms) <- visible
  x$call$formula <- x$formula
  environment(x$call$formula) <- visible
  utils::getS3method("vcovBS", "default", envir = asNamespace("sandwich"))(x, ...)
}

# For package emmeans: the data of a model, and its means as combinations of coefficients.
#' @exportS3Method emmeans::recover_data
recover_data.sheaf_glm <- function(object, ...) {
  if (is.null(object$terms)) stop_argument("object", "was trained on a matrix: train it by a formula")
  emmeans::recover_data(object$call, stats::delete.response(object$terms), object$na.action, frame = object$model, ...)
}

#' @exportS3Method emmeans::emm_basis
emm_basis.sheaf_glm <- function(object, trms, xlev, grid, ...) {
  if (inherits(object, "sheaf_cox")) return(emmeans::emm_basis(as_coxph(object), trms, xlev, grid, ...))
  given <- list(...)
  if (is.null(given$vcov.)) {  # sandwiches too
    known <- !is.na(object$coefficients)
    given$vcov. <- stats::vcov(object)[known, known, drop = FALSE]
  }
  do.call(emmeans::emm_basis, c(list(as_glm(object), trms, xlev, grid), given))
}

# The order of nnet::multinom(): coefficients and covariances of a class lie side by side.
#' @exportS3Method emmeans::emm_basis
emm_basis.sheaf_multinom <- function(object, trms, xlev, grid, ...) {
  given <- list(...)
  if (is.null(given$vcov.)) {
    places <- as.vector(t(matrix(seq_along(object$coefficients), nrow(object$coefficients))))
    given$vcov. <- stats::vcov(object)[places, places]
  }
  of_nnet <- utils::getS3method("emm_basis", "multinom", envir = asNamespace("emmeans"))
  do.call(of_nnet, c(list(object, trms, xlev, grid), given))
}
