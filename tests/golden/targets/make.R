# Writes R's mtcars as mtcars.csv, and elastic nets of three of its columns that glmnet (Debian: r-cran-glmnet) fits: results.json.
#   Rscript make.R
#
# The objective of family mgaussian with standardize.response = FALSE is that of Sheaf:
#   1 / (2 n) sum (y - b - x'w)^2 over rows and targets + alpha l1 sum |w_j| + alpha (1 - l1) / 2 sum |w_j|^2,
# with |w_j| the length of a feature's weights for all targets. Row i (from 1) is in fold 1 + (i - 1) mod 4, eight rows in each.
suppressMessages(library(glmnet))
targets <- c("mpg", "disp", "qsec")
write.csv(mtcars, "mtcars.csv", row.names = FALSE, quote = FALSE)
x <- as.matrix(mtcars[setdiff(names(mtcars), targets)])
y <- as.matrix(mtcars[targets])
folds <- 1 + (seq_len(nrow(x)) - 1) %% 4
alphas <- c(60, 25, 10, 4)

numbers <- function(v) paste0("[", paste(sprintf("%.17g", v), collapse = ", "), "]")
lists <- function(m) paste0("[", paste(apply(m, 2, numbers), collapse = ", "), "]")

fit_case <- function(l1_ratio, standardise, relaxed) {
  arguments <- list(x, y, family = "mgaussian", alpha = l1_ratio, lambda = alphas, standardize = standardise,
                    standardize.response = FALSE, thresh = 1e-14, maxit = 1e8)
  fit <- do.call(glmnet, c(arguments, relax = relaxed))
  if (relaxed) fit <- fit$relaxed
  squares <- if (relaxed) numeric() else do.call(cv.glmnet, c(arguments, list(foldid = folds, type.measure = "mse")))$cvm
  path <- sapply(seq_along(alphas), function(k) {
    each <- sapply(coef(fit), function(one) as.matrix(one)[, k])
    predictions <- predict(fit, x, s = alphas[k])[, , 1]
    paste0('    {"alpha": ', alphas[k], ', "intercepts": ', numbers(each[1, ]), ',\n     "weights": ', lists(each[-1, ]),
           ',\n     "first_row": ', numbers(predictions[1, ]), if (!relaxed) sprintf(',\n     "squares": %.17g', squares[k]), "}")
  })
  paste0('  {"l1_ratio": ', l1_ratio, ', "standardise": ', if (standardise) "true" else "false", ', "relaxed": ',
         if (relaxed) "true" else "false", ', "path": [\n', paste(path, collapse = ",\n"), "]}")
}

cases <- c(fit_case(1, FALSE, FALSE), fit_case(0.5, FALSE, FALSE), fit_case(0.2, TRUE, FALSE), fit_case(1, FALSE, TRUE))
version <- paste0("glmnet ", packageVersion("glmnet"), ", R ", getRversion())
writeLines(paste0('{"program": "', version, '", "targets": ["', paste(targets, collapse = '", "'), '"],\n "features": ["',
                  paste(colnames(x), collapse = '", "'), '"], "cases": [\n', paste(cases, collapse = ",\n"), "]}"), "results.json")
