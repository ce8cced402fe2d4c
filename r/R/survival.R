# Survival: responses of Cox models, their residuals, and the methods of models of family cox.

# Whether a response is of times and events without a family that says so.
is_survival <- function(y) inherits(y, "Surv") || (is.matrix(y) && (has_columns(y, late_columns) || has_columns(y)))

late_columns <- c("start", "stop", "status")
has_columns <- function(y, names = c("time", "status")) ncol(y) == length(names) && setequal(colnames(y), names)

# Times, and 1 where the event came then or 0 where the row is censored, of a Surv object or of two columns as glmnet
# takes them; of (start, stop] times the start too. `strata`: of each row, or NULL; those of glmnet's stratifySurv() are
# in `y`. Times that differ by rounding alone are made equal.
read_survival <- function(y, rows, argument = "y", strata = NULL) {
  type <- if (inherits(y, "Surv")) attr(y, "type") else "right"
  if (!type %in% c("right", "counting")) {
    stop_argument(argument, "is censored by '", type, "'; offered are times censored on the right, with a start or not")
  }
  if (inherits(y, "stratifySurv")) strata <- attr(y, "strata")
  y <- if (is.data.frame(y)) as.matrix(y) else unclass(y)
  late <- type == "counting" || (is.matrix(y) && has_columns(y, late_columns))
  if (!is.matrix(y) || ncol(y) != 2 + late || !is.numeric(y)) {
    stop_argument(argument, "of a Cox model must be a Surv object, or columns 'time' and 'status', or 'start', 'stop' ",
                  "and 'status'")
  }
  check_rows(y, rows, argument)
  named <- has_columns(y)
  time <- as.double(y[, if (late) "stop" else if (named) "time" else 1])
  event <- y[, if (late || named) "status" else 2]
  entry <- if (late) as.double(y[, "start"])
  wrong <- which(!is.finite(time) | (time < 0 & !late))
  if (length(wrong) > 0) {
    stop_argument(argument, "time ", wrong[1], " is ", time[wrong[1]], ", but must be a number of 0 or more")
  }
  if (any(!is.finite(entry))) stop_argument(argument, "start ", which(!is.finite(entry))[1], " is not a number")
  if (!all(event %in% 0:1)) stop_argument(argument, "must have a status of 1 (the event came) or 0 (it did not)")
  if (!any(event == 1)) stop_argument(argument, "has no events")
  all <- core_tie_times(c(time, entry))
  time <- all[seq_along(time)]
  if (late) entry <- all[-seq_along(time)]
  wrong <- which(entry >= time)
  if (length(wrong) > 0) stop_argument(argument, "row ", wrong[1], " starts when it stops, or later")
  structure(list(time = time, event = as.integer(event), entry = entry, strata = read_strata(strata, rows)),
            class = "sheaf_survival")
}

# Numbers of strata from 0.
read_strata <- function(strata, rows) {
  if (is.null(strata)) return(NULL)
  as.integer(as.factor(check_rows(strata, rows, "strata"))) - 1L
}

# The form of the compiled part if it is not given a dataset.
risk_times <- function(survival) {
  list(times = survival$time %||% numeric(), entries = survival$entry %||% numeric(),
       strata = survival$strata %||% integer())
}

# Means that linear predictors are relative to, as in coxph(): columns of -1, 0 and 1 alone have 0.
reference_means <- function(x, weights) {
  means <- as.vector(crossprod(x, weights)) / sum(weights)
  ifelse(colSums(x^3 != x) == 0, 0, means)
}

# Terms of coxph() that would be taken for features here.
refuse_specials <- function(terms) {
  for (variable in as.list(attr(terms, "variables"))[-1]) {
    name <- if (is.call(variable)) sub("^.*::", "", deparse(variable[[1]])[1]) else ""
    if (name %in% c("tt", "frailty", "pspline", "ridge")) {
      stop_argument("formula", "has the term ", deparse(variable)[1],
                    ", which is not offered; survival::coxph() has it",
                    if (name == "ridge") " (here: alpha)")
    }
  }
}

names_survival <- function(formula) length(formula) == 3 && "Surv" %in% all.names(formula[[2]])

# A formula whose strata() and cluster() are found without package survival being attached, and by their plain names.
with_specials <- function(formula, data) {
  plain <- function(part) {
    if (!is.call(part)) return(part)
    if (identical(part[[1]], quote(`::`)) && identical(part[[2]], quote(survival))) return(part[[3]])
    part[] <- lapply(part, plain)
    part
  }
  uses <- all.names(formula)
  if (!any(c("strata", "cluster") %in% uses)) return(formula)
  if (!requireNamespace("survival", quietly = TRUE)) stop_sheaf("strata() and cluster() need package survival")
  known <- environment(formula)
  formula <- plain(formula)
  environment(formula) <- list2env(list(strata = survival::strata, cluster = survival::cluster), parent = known)
  if ("Surv" %in% uses) assign("Surv", survival::Surv, environment(formula))
  stats::terms(formula, specials = c("strata", "cluster"), data = data)
}

# The columns of a frame that belong to a special of the formula, and the numbers of its own terms: those that are no
# interaction.
special_of <- function(terms, name) {
  rows <- attr(terms, "specials")[[name]]
  if (length(rows) == 0) return(list(columns = integer(), terms = integer()))
  factors <- attr(terms, "factors")
  own <- which(colSums(factors[rows, , drop = FALSE] > 0) > 0 & attr(terms, "order") == 1)
  list(columns = rows, terms = unname(own))
}

# Strata and clusters of the rows of a model frame; NULL where there are none.
survival_roles <- function(terms, frame) {
  if (length(unlist(attr(terms, "specials"))) == 0) return(list())
  groups <- special_of(terms, "cluster")
  strata <- special_of(terms, "strata")
  if (length(groups$columns) > 1) stop_argument("formula", "has cluster() more than once")
  if (any(attr(terms, "order")[colSums(attr(terms, "factors")[groups$columns, , drop = FALSE] > 0) > 0] > 1)) {
    stop_argument("formula", "has cluster() in an interaction")
  }
  list(cluster = if (length(groups$columns) > 0) frame[[groups$columns]],
       strata = if (length(strata$columns) == 1) {
         frame[[strata$columns]]
       } else if (length(strata$columns) > 1) {
         survival::strata(frame[strata$columns], shortlabel = TRUE)
       })
}

# Whether a formula of a Cox model has strata; its predictions are then relative to means of the strata.
has_strata <- function(object) length(attr(object$terms, "specials")$strata) > 0

# Models of a formula: elements that functions of package survival that are not generic read of a coxph object.
like_coxph <- function(fit) {
  labels <- term_labels(fit)[-1]
  fit$assign <- split(seq_along(fit$assign), factor(labels[fit$assign], unique(labels[fit$assign])))
  fit$method <- fit$ties
  if (fit$alpha == 0) class(fit) <- c(class(fit), "coxph")
  fit
}

finish_cox <- function(fit, model, response, ties) {
  found <- model$glm
  plain <- if (fit$n_features == 0) numeric() else named_coefficients(model$coefficients$weights[, 1], NULL, fit)
  fit <- take_errors(fit, found, names(plain))
  if (!is.null(model$naive)) fit$naive.var <- take_errors(fit, model$naive, names(plain))$var
  fit$coefficients <- mark_undetermined(plain, fit)
  fit$ties <- ties
  w <- fit$prior.weights
  fit$means <- stats::setNames(if (fit$n_features > 0) reference_means(fit$x, w) else numeric(), names(plain))
  fit$linear.predictors <- linear_predictor(fit, fit$x, plain, fit$offset) - sum(plain * fit$means)
  fit$fitted.values <- exp(fit$linear.predictors)
  left <- core_martingale(risk_times(response$target), response$target$event, w, fit$linear.predictors, ties)
  fit$residuals <- stats::setNames(left, names(fit$linear.predictors))
  fit$n <- sum(w > 0)
  fit$nevent <- found$events
  fit$loglik <- -c(found$null_deviance, found$deviance) / 2
  fit$deviance <- found$deviance
  fit$null.deviance <- found$null_deviance
  fit$edf <- count_parameters(fit, found)
  fit$rank <- if (fit$alpha > 0) length(plain) else as.integer(fit$edf)
  fit$aic <- fit$deviance + 2 * fit$edf
  fit$concordance <- found$concordance
  if (fit$alpha == 0) {
    fit$score <- found$score
    fit$wald.test <- found$wald
  }
  fit$family <- list(family = "cox", link = "log")
  class(fit) <- c("sheaf_cox", "sheaf_glm")
  fit
}

#' @export
print.sheaf_cox <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  if (length(x$coefficients) == 0) {
    cat("No coefficients\n")
  } else if (x$alpha > 0 || is.null(x$std.error)) {
    cat("Coefficients", if (x$alpha > 0) paste0(" (penalty alpha = ", format(x$alpha), ")"), ":\n", sep = "")
    print.default(format(x$coefficients, digits = digits), print.gap = 2, quote = FALSE)
  } else {
    stats::printCoefmat(hazard_table(x), digits = digits, signif.stars = FALSE, P.values = TRUE, has.Pvalue = TRUE)
  }
  cat("\nLog partial likelihood: ", format(signif(x$loglik[2], digits + 2L)), " (without features ",
      format(signif(x$loglik[1], digits + 2L)), ")\nn = ", x$n, ", events = ", x$nevent, "\n", sep = "")
  print_dropped(x)
  invisible(x)
}

# Robust standard errors are a column of their own, and tests use them, as in summary(coxph()).
hazard_table <- function(object) {
  table <- coefficient_table(object)
  colnames(table) <- c("coef", if (is.null(object$naive.var)) "se(coef)" else "robust se", "z", "Pr(>|z|)")
  cbind(table[, 1, drop = FALSE], `exp(coef)` = exp(table[, 1]),
        if (!is.null(object$naive.var)) cbind(`se(coef)` = sqrt(diag(object$naive.var))), table[, -1, drop = FALSE])
}

# Tests that all coefficients are 0.
cox_tests <- function(object) {
  one <- function(statistic) {
    df <- object$rank
    c(test = statistic, df = df, pvalue = stats::pchisq(statistic, df, lower.tail = FALSE))
  }
  list(logtest = one(object$null.deviance - object$deviance), sctest = one(object$score),
       waldtest = one(object$wald.test))
}

#' Summary of a Cox model
#'
#' @param object a [sheaf_glm()] of family `"cox"`.
#' @param conf.int level of the confidence intervals of hazard ratios.
#' @param ... not used.
#' @return An object of class `summary.sheaf_cox` with the elements of `summary(survival::coxph())`: `coefficients`
#'   (`coef`, `exp(coef)`, `se(coef)`, `robust se` if standard errors are robust, `z`, `Pr(>|z|)`), `conf.int`, `n`,
#'   `nevent`, `loglik`, `concordance`, and the tests `logtest`, `sctest` and `waldtest`; with robust standard errors
#'   the Wald test alone holds for rows that are not independent.
#' @examplesIf requireNamespace("survival", quietly = TRUE)
#' fit <- sheaf_glm(survival::Surv(time, status) ~ age + sex, data = survival::lung)
#' summary(fit)
#' @export
summary.sheaf_cox <- function(object, conf.int = 0.95, ...) {
  need_errors(object)
  table <- hazard_table(object)
  ratios <- cbind(table[, 2], exp(-table[, 1]), exp(stats::confint(object, level = conf.int)))
  label <- sub("^0", "", format(conf.int))
  dimnames(ratios) <- list(rownames(table), c("exp(coef)", "exp(-coef)", paste(c("lower", "upper"), label)))
  structure(class = "summary.sheaf_cox",
            c(object[c("call", "n", "nevent", "loglik", "concordance", "ties", "iter", "separated", "na.action")],
              list(coefficients = table, conf.int = ratios, used.robust = !is.null(object$naive.var)),
              cox_tests(object)))
}

#' @export
print.summary.sheaf_cox <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat("n = ", x$n, ", events = ", x$nevent, ", ties by ", x$ties, "\n", sep = "")
  print_dropped(x)
  cat("\n")
  stats::printCoefmat(x$coefficients, digits = digits, P.values = TRUE, has.Pvalue = TRUE, ...)
  cat("\n")
  print(x$conf.int, digits = digits)
  cat("\nConcordance: ", format(x$concordance, digits = digits), "\n", sep = "")
  names <- c(logtest = "Likelihood ratio test", waldtest = "Wald test", sctest = "Score (logrank) test")
  for (name in names(names)) {
    test <- x[[name]]
    cat(format(names[[name]], width = 22), "= ", format(test[["test"]], digits = digits), " on ", test[["df"]],
        " degrees of freedom, p = ", format.pval(test[["pvalue"]], digits = digits), "\n", sep = "")
  }
  if (x$used.robust) cat("(The likelihood ratio and score tests assume independent rows, the Wald test does not.)\n")
  invisible(x)
}

#' @export
nobs.sheaf_cox <- function(object, ...) object$nevent

#' @export
residuals.sheaf_cox <- function(object, type = c("martingale", "deviance", "score", "schoenfeld", "scaledsch", "dfbeta",
                                                 "dfbetas", "partial"), ...) {
  type <- one_of(type, eval(formals(residuals.sheaf_cox)$type), "type")
  if (!type %in% c("martingale", "deviance")) return(stats::residuals(as_coxph(object), type = type, ...))
  left <- object$residuals
  if (type == "deviance") {
    event <- read_survival(object$y, length(left))$event
    log_expected <- ifelse(event == 1, log(pmax(event - left, .Machine$double.xmin)), 0)
    left <- sign(left) * sqrt(pmax(-2 * (left + event * log_expected), 0))
  }
  stats::naresid(object$na.action, left)
}

#' Predictions of a Cox model
#'
#' @param object a [sheaf_glm()] of family `"cox"`.
#' @param newdata a data frame (formula) or a matrix with the columns of the training data; missing: the training rows.
#' @param type `"lp"`, the logarithm of the hazard relative to a row of mean features, as of `survival::coxph()`
#'   (columns of -1, 0 and 1 alone count as 0 there; with strata relative to the mean of the row's stratum); `"risk"`,
#'   its exponential; `"link"` and `"response"`, the same relative to a row of zeros, as of glmnet. `"expected"` events,
#'   `"survival"` up to a row's own time and `"terms"` are those of package survival at these coefficients.
#' @param se.fit whether to give standard errors too: of `"lp"` and `"link"` as they are, of the others by the delta
#'   method.
#' @param newoffset offsets of the new rows, where a model of a matrix was trained with an offset.
#' @param ... of `"expected"`, `"survival"` and `"terms"` passed on to package survival; else not used.
#' @return A vector, of `"terms"` a matrix; with `se.fit` a list of `fit` and `se.fit`.
#' @examplesIf requireNamespace("survival", quietly = TRUE)
#' fit <- sheaf_glm(survival::Surv(time, status) ~ age + sex, data = survival::lung)
#' predict(fit, data.frame(age = c(50, 70), sex = 1), type = "risk")
#' @export
predict.sheaf_cox <- function(object, newdata,
                              type = c("lp", "risk", "link", "response", "expected", "survival", "terms"),
                              se.fit = FALSE, newoffset = NULL, ...) {
  type <- one_of(type, eval(formals(predict.sheaf_cox)$type), "type")
  if (type %in% c("expected", "survival", "terms") || (has_strata(object) && type %in% c("lp", "risk"))) {
    given <- if (missing(newdata) || is.null(newdata)) list() else list(newdata = newdata)
    return(do.call(stats::predict, c(list(as_coxph(object)), given, list(type = type, se.fit = se.fit, ...))))
  }
  if (...length() > 0) stop_argument(...names()[1] %||% "...", "is not for predictions of type \"", type, "\" here")
  means <- if (type %in% c("lp", "risk")) object$means else 0 * object$means
  known <- !is.na(object$coefficients)
  shift <- sum(object$coefficients[known] * (object$means - means)[known])
  padded <- identity
  if (missing(newdata) || is.null(newdata)) {
    eta <- object$linear.predictors + shift
    x <- if (se.fit) model_matrix(object)
    padded <- function(values) stats::napredict(object$na.action, values)
  } else {
    x <- new_features(object, newdata)
    offset <- new_offset(object, newdata, newoffset, nrow(x))
    eta <- linear_predictor(object, x, object$coefficients, offset) - sum((object$coefficients * means)[known])
  }
  multiplies <- type %in% c("risk", "response")
  fit <- if (multiplies) exp(eta) else eta
  if (!se.fit) return(padded(fit))
  apart <- as.matrix(x)[, known, drop = FALSE]
  apart <- apart - rep(means[known], each = nrow(apart))
  error <- sqrt(rowSums((apart %*% stats::vcov(object)[known, known, drop = FALSE]) * apart))
  list(fit = padded(fit), se.fit = padded(if (multiplies) error * fit else error))
}

#' @export
simulate.sheaf_cox <- function(object, nsim = 1, seed = NULL, ...) {
  stop_argument("object", "is a Cox model, which says nothing of when events come: no responses can be drawn")
}

#' @rdname tidiers
#' @export
glance.sheaf_cox <- function(x, ...) {
  table <- data.frame(n = x$n, nevent = x$nevent)
  if (x$alpha == 0) {
    tests <- cox_tests(x)
    table <- cbind(table, statistic.log = tests$logtest[["test"]], p.value.log = tests$logtest[["pvalue"]],
                   statistic.sc = tests$sctest[["test"]], p.value.sc = tests$sctest[["pvalue"]],
                   statistic.wald = tests$waldtest[["test"]], p.value.wald = tests$waldtest[["pvalue"]])
  }
  cbind(table, concordance = x$concordance, logLik = x$loglik[2], AIC = stats::AIC(x), BIC = stats::BIC(x),
        nobs = x$n)
}

#' @rdname tidiers
#' @export
augment.sheaf_cox <- function(x, data = x$model, newdata = NULL, type.predict = c("lp", "risk", "link", "response"),
                              ...) {
  type.predict <- one_of(type.predict, c("lp", "risk", "link", "response"), "type.predict")
  if (!is.null(newdata)) {
    return(cbind(as.data.frame(newdata), .fitted = stats::predict(x, newdata, type = type.predict)))
  }
  if (is.null(data)) stop_argument("data", "is missing")
  cbind(as.data.frame(data), .fitted = stats::predict(x, type = type.predict), .resid = stats::residuals(x))
}
