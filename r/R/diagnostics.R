# Weights, matrices, leverages and plots of residuals, as glm() has them.

need_means <- function(object, argument = "object") {
  if (inherits(object, c("sheaf_multinom", "sheaf_cox"))) {
    stop_argument(argument, "is a model of the family ", object$family_name, ", which has no leverages")
  }
}

#' Diagnostics of generalised linear models
#'
#' Methods of functions of package stats: leverages, standardised and studentised residuals, Cook's distances, what
#' leaving out a row changes, profiles of the likelihood, and the plots that `plot(glm())` draws. Not for multinomial
#' and Cox models, nor for penalised ones, which have no covariance.
#'
#' `extractAIC()`, `model.frame()`, `model.matrix()` and `weights()` are there too, so that [stats::step()] and
#' [stats::drop1()] work. `influence.measures()`, `dffits()` and `covratio()` are not generic in stats: those of this
#' package take its models, and pass all others on to stats.
#'
#' @param x,model,fitted a [sheaf_glm()]; of `influence.measures()`, `dffits()` and `covratio()` any model.
#' @param which the plots: 1, residuals by fitted values; 2, their quantiles by normal ones; 3, roots of their sizes by
#'   fitted values; 5, residuals by leverage.
#' @param type of residuals.
#' @param ... passed on to [graphics::plot()] and to functions of stats, else not used.
#' @return A number for each row; `dfbeta()` and `dfbetas()` a matrix, `influence()` a list as of [stats::influence()],
#'   `influence.measures()` its table; `profile()` what [stats::profile()] gives of `glm()`; `plot()` nothing.
#' @examples
#' fit <- sheaf_glm(mpg ~ wt + hp, data = mtcars)
#' head(hatvalues(fit))
#' plot(fit, which = 1:2)
#' step(fit, trace = 0)
#' @name diagnostics
#' @importFrom stats hatvalues rstandard cooks.distance
NULL

#' @rdname diagnostics
#' @export
hatvalues.sheaf_glm <- function(model, ...) {
  need_means(model, "model")
  need_errors(model)
  x <- as.matrix(model_matrix(model))[, !is.na(model$coefficients), drop = FALSE] * sqrt(model$weights)
  stats::setNames(rowSums(qr.Q(qr(x))^2), names(model$fitted.values))
}

#' @rdname diagnostics
#' @export
rstandard.sheaf_glm <- function(model, type = c("deviance", "pearson"), ...) {
  type <- one_of(type, c("deviance", "pearson"), "type")
  plain_residuals(model, type) / sqrt(model$dispersion * (1 - stats::hatvalues(model)))
}

#' @rdname diagnostics
#' @export
cooks.distance.sheaf_glm <- function(model, ...) {
  leverage <- stats::hatvalues(model)
  (plain_residuals(model, "pearson") / (1 - leverage))^2 * leverage / (model$dispersion * model$rank)
}

# Only of the rows that were trained on, for any na.action.
plain_residuals <- function(model, type) {
  model$na.action <- NULL
  stats::residuals(model, type)
}

#' @rdname diagnostics
#' @export
plot.sheaf_glm <- function(x, which = c(1, 2, 3, 5), ...) {
  need_means(x, "x")
  if (!is.numeric(which) || !all(which %in% c(1, 2, 3, 5))) stop_argument("which", "must be some of 1, 2, 3 and 5")
  if (x$alpha > 0 && any(which > 1)) {
    stop_argument("which", "must be 1: a penalised model has no standardised residuals")
  }
  eta <- x$linear.predictors
  standardised <- if (any(which > 1)) stats::rstandard(x)
  label <- "Std. deviance resid."
  for (one in which) {
    switch(as.character(one),
      `1` = scatter(eta, plain_residuals(x, "deviance"), "Predicted values", "Residuals", "Residuals vs Fitted", ...),
      `2` = {
        stats::qqnorm(standardised, ylab = label, main = "Normal Q-Q", ...)
        stats::qqline(standardised, lty = 3)
      },
      `3` = scatter(eta, sqrt(abs(standardised)), "Predicted values", expression(sqrt("|Std. deviance resid.|")),
                    "Scale-Location", ...),
      `5` = scatter(stats::hatvalues(x), stats::rstandard(x, "pearson"), "Leverage", "Std. Pearson resid.",
                    "Residuals vs Leverage", ...)
    )
  }
  invisible(x)
}

scatter <- function(along, values, xlab, ylab, main, ...) {
  graphics::plot(along, values, xlab = xlab, ylab = ylab, main = main, ...)
  graphics::panel.smooth(along, values)
  graphics::abline(h = 0, lty = 3, col = "gray")
}

#' @importFrom stats extractAIC
#' @export
extractAIC.sheaf_glm <- function(fit, scale = 0, k = 2, ...) {
  counted <- fit$edf + isFALSE(fit$theta_given)
  c(counted, fit$aic + (k - 2) * counted)
}

#' @importFrom stats model.matrix
#' @export
model.matrix.sheaf_glm <- function(object, ...) {
  x <- model_matrix(object)
  if (is.null(object$terms)) return(x)
  assign <- if (is.list(object$assign)) rep(seq_along(object$assign), lengths(object$assign)) else object$assign
  structure(x, assign = c(if (object$intercept) 0L, assign), contrasts = object$contrasts)
}

#' @importFrom stats model.frame
#' @export
model.frame.sheaf_glm <- function(formula, ...) {
  if (is.null(formula$model)) stop_sheaf("the model has not kept its model frame")
  formula$model
}

#' @importFrom stats weights
#' @export
weights.sheaf_glm <- function(object, type = c("prior", "working"), ...) {
  type <- one_of(type, c("prior", "working"), "type")
  stats::naresid(object$na.action, if (type == "prior") object$prior.weights else object$weights)
}
