# Fits Cox models with R's survival and glmnet (Debian: r-cran-survival r-cran-glmnet) on datasets of survival and writes
# NAME.csv (features, time, event: complete rows, text as numbers) and results.json; models of strata, late entries and
# clusters are in strata.json, on lung.csv and on heart.csv (features, id, start, time, event).
#   Rscript make.R [OUTPUT]      (.)
#
# Nets are those of Sheaf's problem, 1 / sum s * minus log partial likelihood (ties by Breslow) + alpha (l1 |w|_1 + (1 - l1) / 2 |w|^2),
# of which `objectives` is the value at glmnet's weights.
suppressMessages({library(survival); library(glmnet)})
arguments <- commandArgs(trailingOnly = TRUE)
output <- if (length(arguments) > 0) arguments[1] else "."

number <- function(v) if (is.na(v)) "null" else sprintf("%.17g", v)
numbers <- function(v) paste0("[", paste(sapply(v, number), collapse = ","), "]")
line <- function(...) {
  fields <- list(...)
  paste0("  {", paste(sprintf("\"%s\": %s", names(fields), unlist(fields)), collapse = ", "), "}")
}
text <- function(v) paste0("\"", v, "\"")
truth <- function(v) if (v) "true" else "false"

as_numbers <- function(frame) data.frame(lapply(frame, function(v) if (is.factor(v)) as.integer(v) - 1L else v))
table_of <- function(frame, time, event) {
  frame <- as_numbers(na.omit(frame))
  data.frame(frame[setdiff(names(frame), c(time, event))], time = frame[[time]],
             event = as.integer(frame[[event]] == max(frame[[event]])))
}
tables <- list(
  lung = table_of(lung[c("time", "status", "age", "sex", "ph.ecog", "ph.karno", "pat.karno", "wt.loss")], "time", "status"),
  veteran = table_of(veteran, "time", "status"),
  ovarian = table_of(ovarian, "futime", "fustat"),
  colon = table_of(subset(colon, etype == 2)[c("time", "status", "sex", "age", "obstruct", "perfor", "adhere", "nodes", "differ",
                                               "extent", "surg", "node4")], "time", "status"))
for (name in names(tables)) write.csv(tables[[name]], file.path(output, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)

# Row i has weight 1 + i mod 3 (i from 1) where `weighted`, and the offset log(1 + i mod 4) where `shifted`.
weights_of <- function(weighted, n) if (weighted) 1 + seq_len(n) %% 3 else rep(1, n)
offsets_of <- function(shifted, n) if (shifted) log(1 + seq_len(n) %% 4) else rep(0, n)
features_of <- function(table) setdiff(names(table), c("time", "event"))

cox <- function(name, ties, weighted = FALSE, shifted = FALSE) {
  table <- tables[[name]]
  n <- nrow(table)
  table$s <- weights_of(weighted, n)
  table$o <- offsets_of(shifted, n)
  formula <- as.formula(paste("Surv(time, event) ~", paste(features_of(tables[[name]]), collapse = " + "), "+ offset(o)"))
  fit <- coxph(formula, table, weights = s, ties = ties, control = coxph.control(eps = 1e-14, iter.max = 100, toler.chol = 1e-14))
  robust <- update(fit, robust = TRUE)
  rows <- summary(fit)$coefficients
  interval <- confint.default(fit)
  line(data = text(name), ties = text(ties), weighted = truth(weighted), shifted = truth(shifted), weights = numbers(coef(fit)),
       errors = numbers(sqrt(diag(fit$var))), z = numbers(coef(fit) / sqrt(diag(fit$var))),
       p = numbers(2 * pnorm(-abs(coef(fit) / sqrt(diag(fit$var))))), low = numbers(interval[, 1]), high = numbers(interval[, 2]),
       likelihood = number(fit$loglik[2]), null = number(fit$loglik[1]), wald = number(fit$wald.test), score = number(fit$score),
       concordance = number(concordance(Surv(table$time, table$event) ~ fit$linear.predictors, weights = table$s, reverse = TRUE)$concordance),
       aic = number(AIC(fit)), bic = number(BIC(fit)), robust = numbers(sqrt(diag(robust$var))))
}

# Minus the log partial likelihood by its definition.
loss <- function(time, event, s, z) {
  sum(sapply(which(event == 1), function(k) s[k] * (log(sum(s[time >= time[k]] * exp(z[time >= time[k]]))) - z[k])))
}

# Weights stay between the two `limits`; null: none.
# `untied`: row i (from 1) gets the time of its own that is i / 1000 later. Where times tie, glmnet 4.1-6 lets the order of the rows
# decide who is at risk, so that its weights are not the best; given intervals of time it does not, but does not converge either, so that
# only its largest alpha is taken from there.
net <- function(name, l1_ratio, standardise, weighted = FALSE, shifted = FALSE, untied = TRUE, limits = c(-Inf, Inf)) {
  table <- tables[[name]]
  if (untied) table$time <- table$time + seq_len(nrow(table)) / 1000
  x <- as.matrix(table[features_of(table)])
  n <- nrow(x)
  s <- weights_of(weighted, n)
  o <- offsets_of(shifted, n)
  y <- Surv(table$time, table$event)
  first <- glmnet(x, Surv(rep(0, n), table$time, table$event), "cox", weights = s, offset = o, alpha = l1_ratio, standardize = standardise, nlambda = 3)
  alphas <- signif(first$lambda[1] * c(0.5, 0.2, 0.1, 0.02), 4)
  fit <- glmnet(x, y, "cox", weights = s, offset = o, alpha = l1_ratio, standardize = standardise, lambda = alphas, thresh = 1e-14,
                maxit = 1e7, lower.limits = limits[1], upper.limits = limits[2])
  w <- as.matrix(fit$beta)
  m <- colSums(s * x) / sum(s)
  scale <- if (standardise) sqrt(colSums(s * sweep(x, 2, m)^2) / sum(s)) else rep(1, ncol(x))
  objectives <- sapply(seq_along(alphas), function(k) {
    b <- w[, k] * scale
    loss(table$time, table$event, s, drop(x %*% w[, k]) + o) / sum(s) + alphas[k] * (l1_ratio * sum(abs(b)) + (1 - l1_ratio) / 2 * sum(b^2))
  })
  line(data = text(name), l1_ratio = number(l1_ratio), standardise = truth(standardise), weighted = truth(weighted),
       shifted = truth(shifted), untied = truth(untied), limits = numbers(ifelse(is.finite(limits), limits, NA)), largest = number(first$lambda[1]), alphas = numbers(alphas), objectives = numbers(objectives),
       weights = paste0("[", paste(apply(w, 2, numbers), collapse = ","), "]"))
}

models <- c(unlist(lapply(names(tables), function(name) c(cox(name, "efron"), cox(name, "breslow")))),
            cox("lung", "efron", weighted = TRUE), cox("lung", "breslow", weighted = TRUE, shifted = TRUE),
            cox("colon", "efron", shifted = TRUE), cox("veteran", "efron", weighted = TRUE, shifted = TRUE))
nets <- c(net("lung", 1, TRUE), net("lung", 0.5, FALSE), net("veteran", 0.5, TRUE, weighted = TRUE), net("ovarian", 1, TRUE),
          net("colon", 1, TRUE), net("colon", 0.3, TRUE, weighted = TRUE), net("veteran", 1, TRUE, shifted = TRUE),
          net("lung", 1, TRUE, untied = FALSE), net("colon", 0.5, TRUE, untied = FALSE),
          net("lung", 1, TRUE, limits = c(0, Inf)), net("colon", 0.5, TRUE, weighted = TRUE, limits = c(-0.1, 0.2)),
          net("veteran", 1, TRUE, limits = c(-0.02, Inf)))
writeLines(c(sprintf("{\"R\": \"%s\", \"survival\": \"%s\", \"glmnet\": \"%s\",", getRversion(), packageVersion("survival"),
                     packageVersion("glmnet")), "\"models\": [", paste(models, collapse = ",\n"), "],", "\"nets\": [",
             paste(nets, collapse = ",\n"), "]}"), file.path(output, "results.json"))

# Strata and clusters are columns of the data, and no features.
heart_table <- with(heart, data.frame(age = age + 48, year = year + 1, surgery, transplant = as.integer(transplant) - 1L, id,
                                      start, time = stop, event))
write.csv(heart_table, file.path(output, "heart.csv"), row.names = FALSE, quote = FALSE)
grouped <- function(name, ties, strata = NULL, cluster = NULL, late = FALSE, weighted = FALSE) {
  table <- if (late) heart_table else tables[[name]]
  table$s <- weights_of(weighted, nrow(table))
  features <- setdiff(names(table), c("id", "start", "time", "event", "s", strata))
  terms <- c(features, if (!is.null(strata)) sprintf("strata(%s)", strata))
  formula <- as.formula(paste(if (late) "Surv(start, time, event)" else "Surv(time, event)", "~", paste(terms, collapse = " + ")))
  control <- coxph.control(eps = 1e-14, iter.max = 100, toler.chol = 1e-14)
  table$row <- seq_len(nrow(table))
  fitted <- function(groups = NULL) {  # coxph() looks for columns in its call
    do.call(coxph, c(list(formula, table, weights = as.name("s"), ties = ties, control = control),
                     if (!is.null(groups)) list(cluster = as.name(groups))))
  }
  fit <- fitted(cluster)
  robust <- fitted("row")
  line(data = text(name), ties = text(ties), strata = text(if (is.null(strata)) "" else strata),
       cluster = text(if (is.null(cluster)) "" else cluster), late = truth(late), weighted = truth(weighted),
       features = paste0("[", paste(text(features), collapse = ","), "]"), weights = numbers(coef(fit)),
       errors = numbers(sqrt(diag(vcov(fit)))), robust = numbers(sqrt(diag(vcov(robust)))),
       concordance = number(fit$concordance[["concordance"]]))
}
strata <- c(grouped("lung", "efron", strata = "sex"), grouped("lung", "breslow", strata = "sex", weighted = TRUE),
            grouped("lung", "efron", cluster = "ph.ecog"), grouped("heart", "efron", late = TRUE),
            grouped("heart", "breslow", late = TRUE, strata = "surgery"),
            grouped("heart", "efron", late = TRUE, strata = "surgery", cluster = "id", weighted = TRUE))
writeLines(c(sprintf("{\"R\": \"%s\", \"survival\": \"%s\",", getRversion(), packageVersion("survival")), "\"models\": [",
             paste(strata, collapse = ",\n"), "]}"), file.path(output, "strata.json"))
