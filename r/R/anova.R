# Tests between models: of terms added one at a time, or of models one of which is a part of the other.

#' @importFrom stats anova
#' @export
anova.sheaf_glm <- function(object, ..., test = NULL) {
  models <- list(object, ...)
  if (!all(vapply(models, inherits, NA, "sheaf_glm"))) stop_argument("...", "must be models of sheaf_glm()")
  check_comparable(models)
  single <- length(models) == 1
  if (!single && object$family_name == "negative.binomial") return(anova_likelihoods(models))
  labels <- seq_along(models)
  if (single) {
    if (is.null(object$model)) stop_sheaf("one model is split by the terms of its formula, which must be kept")
    labels <- term_labels(object)
    models <- nested_models(object)
  }
  df <- vapply(models, function(one) as.double(one$df.residual), 0)
  left <- vapply(models, function(one) one$deviance, 0)
  table <- data.frame(df, left, c(NA, -diff(df)), c(NA, -diff(left)))
  names(table) <- c("Resid. Df", "Resid. Dev", "Df", "Deviance")
  if (single) table <- table[, c(3, 4, 1, 2)]
  rownames(table) <- labels
  heading <- if (single) {
    paste0("Analysis of Deviance Table\n\nModel: ", object$family$family, ", link: ", object$family$link,
           "\n\nTerms added sequentially (first to last)\n")
  } else {
    c("Analysis of Deviance Table\n", model_lines(models))
  }
  if (!is.null(test)) {
    test <- one_of(test, c("Chisq", "LRT", "F", "Rao", "Cp"), "test")
    if (test %in% c("Rao", "Cp")) return(stats_anova(if (single) list(object) else models, test))
    largest <- models[[which.min(df)]]
    table <- stats::stat.anova(table, test, largest$dispersion, if (test == "F") largest$df.residual else Inf,
                               stats::nobs(largest))
  }
  structure(table, heading = heading, class = c("anova", "data.frame"))
}

#' @export
anova.sheaf_cox <- function(object, ..., test = "Chisq") {
  models <- list(object, ...)
  if (!all(vapply(models, inherits, NA, "sheaf_cox"))) stop_argument("...", "must be Cox models of sheaf_glm()")
  check_comparable(models)
  test <- one_of(test, c("Chisq", "LRT"), "test")
  single <- length(models) == 1
  labels <- seq_along(models)
  if (single) {
    if (is.null(object$model)) stop_sheaf("one model is split by the terms of its formula, which must be kept")
    labels <- term_labels(object)
    models <- nested_models(object)
  }
  likelihood <- vapply(models, function(one) one$loglik[2], 0)
  gained <- c(NA, 2 * abs(diff(likelihood)))
  df <- c(NA, abs(diff(vapply(models, function(one) as.double(one$rank), 0))))
  table <- data.frame(likelihood, gained, df, stats::pchisq(gained, df, lower.tail = FALSE), row.names = labels)
  names(table) <- c("loglik", "Chisq", "Df", "Pr(>|Chi|)")
  heading <- if (single) {
    "Analysis of Deviance Table\n\nCox model, terms added sequentially (first to last)\n"
  } else {
    c("Analysis of Deviance Table\n", model_lines(models))
  }
  structure(table, heading = heading, class = c("anova", "data.frame"))
}

# Each model has a theta of its own, and deviances at different thetas can't be compared; likelihoods can, as
# MASS::anova.negbin() compares them.
anova_likelihoods <- function(models) {
  likelihood <- vapply(models, function(one) as.double(stats::logLik(one)), 0)
  df <- vapply(models, function(one) as.double(one$df.residual), 0)
  gained <- c(NA, 2 * abs(diff(likelihood)))
  freedom <- c(NA, abs(diff(df)))
  table <- data.frame(vapply(models, function(one) one$theta, 0), df, 2 * likelihood, freedom, gained,
                      stats::pchisq(gained, freedom, lower.tail = FALSE))
  names(table) <- c("theta", "Resid. Df", "2 x log-lik.", "Df", "LR stat.", "Pr(Chi)")
  structure(table, heading = c("Likelihood ratio tests of Negative Binomial Models\n", model_lines(models)),
            class = c("anova", "data.frame"))
}

# By package stats, at our estimates.
stats_anova <- function(models, test) {
  table <- do.call(stats::anova, c(lapply(unname(models), as_glm), test = test))
  attr(table, "heading") <- sub("^Response: .*", "", attr(table, "heading"))
  table
}

term_labels <- function(object) {
  terms <- object$terms
  labels <- attr(terms, "term.labels")
  roles <- c(special_of(terms, "strata")$terms, special_of(terms, "cluster")$terms)
  c("NULL", if (length(roles) > 0) labels[-roles] else labels)
}

model_lines <- function(models) {
  texts <- vapply(models, function(one) paste(deparse(one$formula %||% one$call), collapse = " "), "")
  paste0("Model ", seq_along(models), ": ", texts, collapse = "\n")
}

# A likelihood-ratio test is between models of the same rows, response and family, without a penalty, each a part of
# the next or the other way round.
check_comparable <- function(models) {
  first <- models[[1]]
  for (k in seq_along(models)) {
    one <- models[[k]]
    name <- if (length(models) == 1) "the model" else paste("model", k)
    if (one$alpha > 0) {
      stop_sheaf(name, " has a penalty (alpha = ", format(one$alpha), "), and tests are for models without one")
    }
    if (!isTRUE(one$converged)) stop_sheaf(name, " did not converge, so that its likelihood is not the largest")
    if (k == 1) next
    if (!identical(kind_text(one), kind_text(first))) {
      stop_sheaf(name, " is ", kind_text(one), " and model 1 ", kind_text(first),
                 "; tests need the same family and link")
    }
    check_same_rows(one, first, name)
    check_nested(models[[k - 1]], one, k)
  }
}

kind_text <- function(object) {
  text <- paste0(object$family$family, " (", object$family$link, ")")
  if (object$family_name == "negative.binomial") {
    text <- paste("negative binomial with theta", if (object$theta_given) format(object$theta) else "estimated")
  }
  if (!inherits(object, "sheaf_cox")) return(text)
  strata <- special_of(object$terms, "strata")$terms
  paste(c(paste(text, "with ties by", object$ties), attr(object$terms, "term.labels")[strata]), collapse = ", ")
}

# Cox models count events in nobs(), hence the weights.
check_same_rows <- function(one, first, name) {
  differs <- function(what) stop_sheaf(name, " and model 1 were not trained on the same ", what)
  rows <- c(length(one$prior.weights), length(first$prior.weights))
  if (rows[1] != rows[2]) {
    stop_sheaf(name, " was trained on ", rows[1], " rows and model 1 on ", rows[2], "; tests need the same ones. Rows ",
               "with missing values are left out: train all models on rows that have no missing value in any of them")
  }
  row_names <- function(object) {
    if (is.matrix(object$fitted.values)) rownames(object$fitted.values) else names(object$fitted.values)
  }
  if (!is.null(row_names(one)) && !is.null(row_names(first)) && !identical(row_names(one), row_names(first))) {
    differs("rows")
  }
  plain <- function(y) if (is.factor(y)) as.character(y) else as.vector(unclass(y))
  if (!identical(one$levels, first$levels) || !identical(plain(one$y), plain(first$y))) differs("response")
  if (!identical(one$prior.weights, first$prior.weights)) differs("weights")
  if (!identical(as.vector(one$offset %||% 0), as.vector(first$offset %||% 0))) differs("offset")
}

check_nested <- function(before, one, k) {
  pair <- paste("models", k - 1, "and", k)
  if (before$rank == one$rank) {
    stop_sheaf(pair, " have ", one$rank, " coefficients each: neither is a part of the other (AIC() compares such ",
               "models)")
  }
  larger <- if (before$rank > one$rank) before else one
  smaller <- if (before$rank > one$rank) one else before
  names_of <- function(object) {
    if (is.matrix(object$coefficients)) return(colnames(object$coefficients))
    names(object$coefficients)[!is.na(object$coefficients)]
  }
  lacking <- setdiff(names_of(smaller), names_of(larger))
  if (length(lacking) > 0 && !spans(larger, smaller, lacking)) {
    stop_sheaf(pair, " are not nested: the smaller one has '", lacking[1], "', which the other lacks (AIC() compares ",
               "such models)")
  }
}

# Whether columns of the smaller model are combinations of the larger one's, as x is of poly(x, 2).
spans <- function(larger, smaller, columns) {
  kept <- function(object) !is.null(object[["x"]]) || !is.null(object$model)
  if (!kept(larger) || !kept(smaller)) return(FALSE)
  all <- as.matrix(model_matrix(larger))
  if (inherits(larger, "sheaf_cox")) all <- cbind(1, all)
  wanted <- as.matrix(model_matrix(smaller))[, columns, drop = FALSE]
  left <- qr.resid(qr(all), wanted)
  all(sqrt(colSums(left^2)) <= 1e-7 * sqrt(colSums(wanted^2)))
}

# Models of the first terms, then of one more at a time; the model itself is the last.
nested_models <- function(object) {
  y <- stats::model.response(object$model)
  x <- design_of(object$model, object$terms, object$contrasts)$x
  family <- if (object$family_name == "negative.binomial" || object$family_name == "tweedie" ||
                  object$family_name %in% c("multinomial", "cox")) {
    object$family_name
  } else {
    object$family
  }
  power <- if (object$family_name == "tweedie") eval(object$call$power %||% 1.5, environment(object$formula)) else 1.5
  assign <- object$assign
  if (is.list(assign)) assign <- rep(seq_along(assign), lengths(assign))  # as coxph() has it
  steps <- seq_len(max(assign, 0L)) - 1L
  smaller <- lapply(steps, function(last) {
    fit_glm(x[, assign <= last, drop = FALSE], y, family, stats::model.weights(object$model), object$offset,
            object$alpha, power, object$theta, object$intercept, control = object$control,
            ties = object$ties %||% "efron", strata = survival_roles(object$terms, object$model)$strata)
  })
  c(smaller, list(object))
}
