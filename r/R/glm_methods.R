# Methods of generalised linear models.

# The matrix that a model was trained on, with a column of ones before it.
model_matrix <- function(object) {
  x <- object[["x"]]
  if (is.null(x) && !is.null(object$model)) x <- design_of(object$model, object$terms, object$contrasts)$x
  if (is.null(x)) stop_sheaf("the model was trained with model = FALSE and has not kept its rows")
  if (!object$intercept) return(x)
  cbind("(Intercept)" = 1, x)
}

# The format of print(glm()).
print_dropped <- function(x) {
  message <- stats::naprint(x$na.action)
  if (nzchar(message)) cat("  (", message, ")\n", sep = "")
}

need_errors <- function(object) {
  if (object$alpha > 0) stop_sheaf("a penalised model has no standard errors: its coefficients are biased on purpose")
  if (is.null(object$std.error)) stop_sheaf("the model has too many coefficients for standard errors (over 1,500)")
}

#' @export
print.sheaf_glm <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat("Coefficients", if (x$alpha > 0) paste0(" (penalty alpha = ", format(x$alpha), ")"), ":\n", sep = "")
  print.default(format(x$coefficients, digits = digits), print.gap = 2, quote = FALSE)
  cat("\nDegrees of Freedom: ", x$df.null, " Total (i.e. Null);  ", format(x$df.residual, digits = digits),
      " Residual\n", sep = "")
  print_dropped(x)
  cat("Null Deviance:     ", format(signif(x$null.deviance, digits)), "\n")
  cat("Residual Deviance: ", format(signif(x$deviance, digits)), "\tAIC: ", format(signif(x$aic, digits)), "\n",
      sep = "")
  invisible(x)
}

coefficient_table <- function(object) {
  estimate <- as.vector(object$coefficients)
  error <- as.vector(object$std.error)
  statistic <- estimate / error
  student <- estimates_dispersion(object$family_name)
  p <- if (student) 2 * stats::pt(-abs(statistic), object$df.residual) else 2 * stats::pnorm(-abs(statistic))
  table <- cbind(estimate, error, statistic, p)
  letter <- if (student) "t" else "z"
  dimnames(table) <- list(coefficient_names(object), c("Estimate", "Std. Error", paste(letter, "value"),
                                                       paste0("Pr(>|", letter, "|)")))
  table
}

coefficient_names <- function(object) {
  if (!is.matrix(object$coefficients)) return(names(object$coefficients))
  as.vector(outer(rownames(object$coefficients), colnames(object$coefficients), paste, sep = ":"))
}

#' Summary of a generalised linear model
#'
#' @param object a [sheaf_glm()].
#' @param ... not used.
#' @return An object of class `summary.sheaf_glm`, whose `coefficients` are estimates, standard errors, their ratio and
#'   p-values: by Student's distribution where the dispersion is estimated, else by the normal one. Features that the
#'   rows do not determine are left out, as by `summary(glm())`.
#' @examples
#' coef(summary(sheaf_glm(mpg ~ wt + hp, data = mtcars)))
#' @export
summary.sheaf_glm <- function(object, ...) {
  need_errors(object)
  table <- coefficient_table(object)
  aliased <- is.na(as.vector(object$coefficients))
  structure(class = "summary.sheaf_glm",
            c(object[c("call", "family", "deviance", "null.deviance", "aic", "df.residual", "df.null", "iter",
                       "dispersion", "converged", "theta", "SE.theta", "separated", "na.action")],
              list(coefficients = table[!aliased, , drop = FALSE], aliased = aliased, resid = residuals_for(object),
                   omitted = coefficient_names(object)[aliased])))
}

residuals_for <- function(object) if (inherits(object, "sheaf_multinom")) NULL else stats::residuals(object, "deviance")

#' @export
print.summary.sheaf_glm <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  if (!is.null(x$resid) && x$df.residual > 5) {
    cat("Deviance Residuals: \n")
    quartiles <- stats::setNames(stats::quantile(x$resid, na.rm = TRUE), c("Min", "1Q", "Median", "3Q", "Max"))
    print.default(zapsmall(quartiles, digits + 1L), digits = digits, print.gap = 2L)
  }
  cat("\nCoefficients:", if (length(x$omitted) > 0) {
    paste0(" (", length(x$omitted), " not determined by the rows: ", paste(x$omitted, collapse = ", "), ")")
  }, "\n", sep = "")
  stats::printCoefmat(x$coefficients, digits = digits, na.print = "NA", ...)
  cat("\n(Dispersion parameter for ", x$family$family, " family taken to be ", format(x$dispersion), ")\n\n", sep = "")
  cat("    Null deviance: ", format(signif(x$null.deviance, max(5L, digits + 1L))), "  on ", x$df.null,
      " degrees of freedom\nResidual deviance: ", format(signif(x$deviance, max(5L, digits + 1L))), "  on ",
      x$df.residual, " degrees of freedom\n", sep = "")
  print_dropped(x)
  cat("AIC: ", format(signif(x$aic, max(4L, digits + 1L))), "\n", sep = "")
  if (!is.null(x$theta)) {
    cat("Theta: ", format(signif(x$theta, digits)), if (!is.null(x$SE.theta)) {
      paste0(" (Std. Err. ", format(signif(x$SE.theta, digits)), ")")
    }, "\n", sep = "")
  }
  cat("\nIterations: ", x$iter, "\n", sep = "")
  invisible(x)
}

#' @export
coef.sheaf_glm <- function(object, ...) object$coefficients

#' @importFrom stats vcov
#' @export
vcov.sheaf_glm <- function(object, ...) {
  need_errors(object)
  object$var
}

#' @importFrom stats confint
#' @export
confint.sheaf_glm <- function(object, parm, level = 0.95, method = c("Wald", "profile"), ...) {
  need_errors(object)
  if (one_of(method, c("Wald", "profile"), "method") == "profile") {
    return(suppressMessages(stats::confint(as_glm(object), parm, level, ...)))
  }
  estimates <- stats::setNames(as.vector(object$coefficients), coefficient_names(object))
  errors <- stats::setNames(as.vector(object$std.error), names(estimates))
  if (missing(parm)) parm <- names(estimates) else if (is.numeric(parm)) parm <- names(estimates)[parm]
  tails <- c((1 - level) / 2, 1 - (1 - level) / 2)
  reach <- if (estimates_dispersion(object$family_name)) stats::qt(tails, object$df.residual) else stats::qnorm(tails)
  interval <- estimates[parm] + errors[parm] %o% reach
  dimnames(interval) <- list(parm, paste(format(100 * tails, trim = TRUE, digits = 3), "%"))
  interval
}

# By the distribution that summary() takes, where lmtest's default method takes Student's for all models.
#' @exportS3Method lmtest::coeftest
coeftest.sheaf_glm <- function(x, vcov. = NULL, df = NULL, ...) {
  if (is.null(df)) df <- if (estimates_dispersion(x$family_name)) x$df.residual else Inf
  if (!is.matrix(x$coefficients)) return(lmtest::coeftest.default(x, vcov. = vcov., df = df, ...))
  spread <- if (is.function(vcov.)) vcov.(x, ...) else vcov. %||% stats::vcov(x)
  estimates <- stats::setNames(as.vector(x$coefficients), coefficient_names(x))
  lmtest::coeftest.default(list(coefficients = estimates), vcov. = spread, df = df)
}

#' @importFrom stats logLik
#' @export
logLik.sheaf_glm <- function(object, ...) {
  # logLik(glm()) counts the dispersion and theta if they are estimated.
  df <- object$edf + estimates_dispersion(object$family_name) + isFALSE(object$theta_given)
  structure(df - object$aic / 2, nobs = stats::nobs(object), df = df, class = "logLik")
}

#' @importFrom stats AIC BIC nobs deviance
#' @export
nobs.sheaf_glm <- function(object, ...) sum(object$prior.weights > 0)

#' @export
deviance.sheaf_glm <- function(object, ...) object$deviance

#' @importFrom stats df.residual
#' @export
df.residual.sheaf_glm <- function(object, ...) object$df.residual

#' @importFrom stats family
#' @export
family.sheaf_glm <- function(object, ...) object$family

#' @importFrom stats formula
#' @export
formula.sheaf_glm <- function(x, ...) {
  if (is.null(x$formula)) stop_sheaf("the model was trained on a matrix and has no formula")
  x$formula
}

#' @export
fitted.sheaf_glm <- function(object, ...) stats::napredict(object$na.action, object$fitted.values)

#' @export
residuals.sheaf_glm <- function(object, type = c("deviance", "pearson", "working", "response", "partial"), ...) {
  type <- one_of(type, c("deviance", "pearson", "working", "response", "partial"), "type")
  if (type == "partial") return(stats::residuals(as_glm(object), "partial"))
  y <- object$y
  mu <- object$fitted.values
  w <- object$prior.weights
  found <- switch(type,
    deviance = sign(y - mu) * sqrt(pmax(object$family$dev.resids(y, mu, w), 0)),
    pearson = (y - mu) * sqrt(w / object$family$variance(mu)),
    working = object$residuals,
    response = y - mu
  )
  stats::naresid(object$na.action, found)
}

#' @export
residuals.sheaf_multinom <- function(object, ...) stats::naresid(object$na.action, object$residuals)

#' Predictions of a generalised linear model
#'
#' @param object a [sheaf_glm()].
#' @param newdata a data frame (formula) or a matrix with the columns of the training data; missing: the training rows.
#' @param type `"link"`, `"response"` (means; of classes probabilities), `"class"` or `"terms"`, the parts of `"link"`
#'   that come from each term of the formula, as of [stats::predict.glm()]. Multinomial models: `"response"`, or
#'   `"probs"` as in nnet, is a matrix with a column for each class, and `"link"` the differences from the first class.
#' @param se.fit whether to give standard errors too; those of probabilities by the delta method.
#' @param newoffset offsets of the new rows. Needed where a model of a matrix was trained with an offset; with a formula
#'   they are evaluated in `newdata`.
#' @param ... with `"terms"` passed on to [stats::predict.glm()], such as `terms`; else not used.
#' @return A vector, a matrix or a factor; with `se.fit` a list of `fit`, `se.fit` and `residual.scale`.
#' @examples
#' fit <- sheaf_glm(am ~ wt, family = binomial, data = mtcars)
#' predict(fit, data.frame(wt = c(2, 3)), type = "response", se.fit = TRUE)
#' @export
predict.sheaf_glm <- function(object, newdata, type = c("link", "response", "class", "terms"), se.fit = FALSE,
                              newoffset = NULL, ...) {
  type <- one_of(type, c("link", "response", "class", "terms"), "type")
  if (type == "terms") {
    if (is.null(object$terms)) stop_argument("type", "\"terms\" is for models that were trained by a formula")
    given <- if (missing(newdata) || is.null(newdata)) list() else list(newdata = newdata)
    return(do.call(stats::predict, c(list(as_glm(object)), given, list(type = "terms", se.fit = se.fit, ...))))
  }
  if (missing(newdata) || is.null(newdata)) {
    eta <- object$linear.predictors
    x <- if (se.fit) model_matrix(object)
    padded <- function(values) stats::napredict(object$na.action, values)
  } else {
    x <- new_features(object, newdata)
    eta <- linear_predictor(object, x, object$coefficients, new_offset(object, newdata, newoffset, nrow(x)))
    x <- if (object$intercept) cbind(1, x) else x
    padded <- identity
  }
  if (type == "class") return(two_classes(object, padded(eta)))
  fit <- if (type == "link") eta else object$family$linkinv(eta)
  if (!se.fit) return(padded(fit))
  known <- !is.na(object$coefficients)
  spread <- stats::vcov(object)[known, known, drop = FALSE]
  x <- x[, known, drop = FALSE]
  error <- sqrt(rowSums(as.matrix(x %*% spread) * as.matrix(x)))
  if (type == "response") error <- error * abs(object$family$mu.eta(eta))
  list(fit = padded(fit), se.fit = padded(error), residual.scale = sqrt(object$dispersion))
}

two_classes <- function(object, eta) {
  if (object$family_name != "binomial") stop_argument("type", "\"class\" is for models of classes")
  likely <- object$family$linkinv(eta) > 0.5
  if (is.null(object$levels)) return(stats::setNames(as.double(likely), names(eta)))
  factor(object$levels[likely + 1], levels = object$levels)
}

new_offset <- function(object, newdata, newoffset, rows) {
  if (!is.null(newoffset)) return(check_offset(newoffset, rows, "newoffset"))
  if (is.null(object$offset)) return(NULL)
  if (is.null(object$terms)) stop_argument("newoffset", "is missing: the model was trained with an offset")
  offset <- 0
  for (place in attr(object$terms, "offset")) {
    offset <- offset + eval(attr(object$terms, "variables")[[place + 1]], newdata)
  }
  if (!is.null(object$call$offset)) offset <- offset + eval(object$call$offset, newdata, environment(object$formula))
  rep_len(offset, rows)
}

#' @export
predict.sheaf_multinom <- function(object, newdata, type = c("class", "response", "link", "probs"), se.fit = FALSE,
                                   ...) {
  type <- one_of(type, c("class", "response", "link", "probs"), "type")
  if (type == "probs") type <- "response"
  if (se.fit && type == "class") stop_argument("se.fit", "is not for type \"class\"")
  padded <- identity
  if (missing(newdata) || is.null(newdata)) {
    probabilities <- object$fitted.values
    x <- if (se.fit) model_matrix(object)
    padded <- function(values) stats::napredict(object$na.action, values)
  } else {
    x <- new_features(object, newdata)
    probabilities <- softmax(linear_predictor(object, x, object$class_coefficients, NULL))
    dimnames(probabilities) <- list(rownames(x), object$lev)
    if (object$intercept) x <- cbind(1, x)
  }
  fit <- if (type == "link") log(probabilities[, -1, drop = FALSE] / probabilities[, 1]) else probabilities
  if (se.fit) {
    errors <- class_errors(object, as.matrix(x), probabilities, type == "response")
    return(list(fit = padded(fit), se.fit = padded(errors), residual.scale = 1))
  }
  if (type != "class") return(padded(fit))
  factor(object$lev[max.col(padded(probabilities), "first")], levels = object$levels)
}

# Standard errors of log odds against the first class or, by the delta method, of probabilities.
class_errors <- function(object, x, probabilities, of_probabilities) {
  spread <- stats::vcov(object)
  others <- ncol(probabilities) - 1L
  places <- function(k) seq(k, by = others, length.out = ncol(x))  # of coefficients of class k
  known <- function(k) places(k)[!is.na(diag(spread)[places(k)])]
  covariance <- function(a, b) {
    at <- function(k) x[, (known(k) - k) %/% others + 1L, drop = FALSE]
    rowSums((at(a) %*% spread[known(a), known(b), drop = FALSE]) * at(b))
  }
  each <- function(of) vapply(seq_len(others), of, numeric(nrow(x)))
  if (!of_probabilities) {
    errors <- sqrt(each(function(k) covariance(k, k)))
    return(matrix(errors, nrow(x), dimnames = list(rownames(probabilities), colnames(probabilities)[-1])))
  }
  squares <- 0 * probabilities
  for (a in seq_len(others)) {
    for (b in seq_len(others)) {
      slope <- function(k) probabilities * ((col(probabilities) == k + 1L) - probabilities[, k + 1L])
      squares <- squares + slope(a) * slope(b) * covariance(a, b)
    }
  }
  sqrt(squares)
}

`%||%` <- function(value, otherwise) if (is.null(value)) otherwise else value
