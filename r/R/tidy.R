# Tables as package broom makes them.

#' Tables of models
#'
#' Methods of broom's generics: a row for each coefficient (`tidy()`), one row for the model (`glance()`), the data with
#' what the model says of each row (`augment()`).
#'
#' @param x a model.
#' @param conf.int,conf.level whether to add a confidence interval, and its level.
#' @param exponentiate whether to give exponentials of estimates and intervals: odds ratios, hazard ratios ...
#' @param return_zeros whether to list coefficients that are 0.
#' @param gamma of relaxed models: the share of the penalised model; see [sheaf_net()].
#' @param data,newdata the training data, or new rows.
#' @param type.predict the scale of `.fitted`.
#' @param ... not used.
#' @return A data frame.
#' @examples
#' fit <- sheaf_glm(am ~ wt, family = binomial, data = mtcars)
#' tidy(fit, conf.int = TRUE)
#' glance(fit)
#' head(augment(fit, mtcars, type.predict = "response"))
#' @name tidiers
NULL

#' @rdname tidiers
#' @export
tidy.sheaf_glm <- function(x, conf.int = FALSE, conf.level = 0.95, exponentiate = FALSE, ...) {
  if (x$alpha > 0 || is.null(x$std.error)) {
    table <- data.frame(term = coefficient_names(x), estimate = as.vector(x$coefficients))
  } else {
    values <- coefficient_table(x)
    errors <- data.frame(std.error = values[, 2])
    if (!is.null(x$naive.var)) errors <- data.frame(std.error = sqrt(diag(x$naive.var)), robust.se = values[, 2])
    table <- data.frame(term = rownames(values), estimate = values[, 1], errors, statistic = values[, 3],
                        p.value = values[, 4], row.names = NULL)
    if (conf.int) {
      interval <- stats::confint(x, level = conf.level)
      table$conf.low <- unname(interval[, 1])
      table$conf.high <- unname(interval[, 2])
    }
  }
  if (exponentiate) {
    raised <- intersect(c("estimate", "conf.low", "conf.high"), names(table))
    table[raised] <- exp(table[raised])
  }
  if (!is.matrix(x$coefficients)) return(table)
  cbind(y.level = as.vector(row(x$coefficients, as.factor = TRUE)),
        transform(table, term = rep(colnames(x$coefficients), each = nrow(x$coefficients))))
}

#' @rdname tidiers
#' @export
glance.sheaf_glm <- function(x, ...) {
  data.frame(null.deviance = x$null.deviance, df.null = x$df.null, logLik = as.double(stats::logLik(x)),
             AIC = stats::AIC(x), BIC = stats::BIC(x), deviance = x$deviance, df.residual = x$df.residual,
             nobs = stats::nobs(x))
}

#' @rdname tidiers
#' @export
augment.sheaf_glm <- function(x, data = x$model, newdata = NULL, type.predict = c("link", "response", "class"), ...) {
  type.predict <- one_of(type.predict, c("link", "response", "class"), "type.predict")
  if (inherits(x, "sheaf_multinom")) type.predict <- "class"
  if (!is.null(newdata)) {
    return(cbind(as.data.frame(newdata), .fitted = stats::predict(x, newdata, type = type.predict)))
  }
  if (is.null(data)) stop_argument("data", "is missing")
  table <- cbind(as.data.frame(data), .fitted = stats::predict(x, type = type.predict))
  if (inherits(x, "sheaf_multinom")) return(table)
  table$.resid <- stats::residuals(x, "deviance")
  if (x$alpha > 0 || is.null(x$std.error)) return(table)
  padded <- function(values) stats::naresid(x$na.action, values)
  table$.std.resid <- padded(stats::rstandard(x))
  table$.hat <- padded(stats::hatvalues(x))
  table$.cooksd <- padded(stats::cooks.distance(x))
  table
}

#' @rdname tidiers
#' @export
tidy.sheaf_net <- function(x, return_zeros = FALSE, ...) {
  all <- path_coefficients(x, NULL)
  if (!has_several(x$family)) return(tidy_path(x, all, return_zeros))
  tables <- lapply(names(all), function(name) {
    cbind(class = name, tidy_path(x, all[[name]], return_zeros), stringsAsFactors = FALSE)
  })
  table <- do.call(rbind, tables)
  if (x$family == "mgaussian") names(table)[1] <- "response"
  table
}

tidy_path <- function(x, all, return_zeros) {
  entries <- Matrix::summary(as(all, "CsparseMatrix"))
  if (return_zeros) entries <- data.frame(i = c(row(all)), j = c(col(all)), x = as.vector(as.matrix(all)))
  data.frame(term = rownames(all)[entries$i], step = entries$j, estimate = entries$x, lambda = x$lambda[entries$j],
             dev.ratio = x$dev.ratio[entries$j])
}

#' @rdname tidiers
#' @export
glance.sheaf_net <- function(x, ...) data.frame(nulldev = x$nulldev, npasses = x$npasses, nobs = x$nobs)

#' @rdname tidiers
#' @export
tidy.cv_sheaf_net <- function(x, ...) score_table(x)

score_table <- function(x) {
  data.frame(lambda = x$lambda, estimate = x$cvm, std.error = x$cvsd, conf.low = x$cvlo, conf.high = x$cvup,
             nzero = unname(x$nzero))
}

#' @rdname tidiers
#' @export
glance.cv_sheaf_net <- function(x, ...) {
  data.frame(lambda.min = x$lambda.min, lambda.1se = x$lambda.1se, nobs = x$glmnet.fit$nobs)
}

#' @rdname tidiers
#' @export
tidy.sheaf_relaxed <- function(x, return_zeros = FALSE, gamma = 1, ...) {
  tidy.sheaf_net(mix_path(x, gamma, extend = FALSE), return_zeros)
}

#' @rdname tidiers
#' @export
tidy.cv_sheaf_relaxed <- function(x, ...) {
  tables <- Map(function(scores, gamma) cbind(gamma = gamma, score_table(scores)), x$relaxed$statlist, x$relaxed$gamma)
  do.call(rbind, unname(tables))
}

#' @rdname tidiers
#' @export
glance.cv_sheaf_relaxed <- function(x, ...) {
  data.frame(x$relaxed[c("lambda.min", "gamma.min", "lambda.1se", "gamma.1se")], nobs = x$glmnet.fit$nobs)
}

#' @rdname tidiers
#' @export
tidy.sheaf_search <- function(x, ...) x$results

#' @rdname tidiers
#' @export
glance.sheaf_search <- function(x, ...) {
  data.frame(x$best, score = x$score, mean = x$best_score, se = x$results$se[x$chosen], points = nrow(x$results),
             splits = x$splits)
}

#' @rdname tidiers
#' @export
tidy.sheaf_study <- function(x, ...) x$features[c("feature", "index", "frequency", "median_rank")]

#' @rdname tidiers
#' @export
glance.sheaf_study <- function(x, ...) {
  data.frame(stability = x$stability[["estimate"]], conf.low = x$stability[["low"]], conf.high = x$stability[["high"]],
             selected = length(x$selected), resamples = x$resamples, score = x$score, mean = mean(x$outer[[x$score]]))
}
