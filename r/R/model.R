# Trained models that live in the compiled part, and come back to life from their text where a session ended.

# The list that core_fit() returns, without what only the compiled part needs; `text` outlives the session.
keep_model <- function(model) {
  box <- new.env(parent = emptyenv())
  box$pointer <- model$pointer
  list(box = box, text = model$text)
}

model_pointer <- function(kept) {
  if (!core_is_alive(kept$box$pointer)) kept$box$pointer <- core(core_parse(kept$text))$pointer
  kept$box$pointer
}

predict_core <- function(object, x, probabilities = FALSE, missing = FALSE) {
  found <- core(core_predict(as_control(object$control), model_pointer(object$model), x,
                             about_features(x, missing = missing), probabilities))
  warn_each(found$warnings)
  found
}

# Probabilities with a column for each level.
probability_columns <- function(found, levels, rows) {
  shares <- matrix(0, nrow(found$probabilities), length(levels), dimnames = list(rows, levels))
  shares[, match(found$levels, levels)] <- found$probabilities
  shares
}

#' Write a model to a file
#'
#' @param object a [sheaf_svm()], [sheaf_linear()], or the result of a [sheaf_search()].
#' @param file where to write it.
#' @param format `"sheaf"`: readable, exact, with all names; the command-line program and the Python package read it.
#'   `"libsvm"` and `"liblinear"` are the formats of these programs, where they can hold the model.
#' @return The path of the file, invisibly.
#' @examples
#' fit <- sheaf_linear(as.matrix(iris[, 1:4]), iris$Species)
#' sheaf_write_model(fit, tempfile())
#' @export
sheaf_write_model <- function(object, file, format = c("sheaf", "libsvm", "liblinear")) {
  format <- one_of(format, c("sheaf", "libsvm", "liblinear"), "format")
  if (is.null(object$model$box)) stop_argument("object", "is no model that can be written to a file")
  text <- core(core_model_text(model_pointer(object$model), format))
  writeLines(text, file, sep = "", useBytes = TRUE)
  invisible(file)
}
