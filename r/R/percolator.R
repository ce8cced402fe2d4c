#' Rescore peptide-spectrum matches
#'
#' Semi-supervised rescoring as Percolator does it: linear support vector machines learn on folds to tell good target
#' matches from decoys, and q-values and posterior error probabilities follow from the competition of the two.
#'
#' @param x paths of PIN files (compressed or not), or a data frame with the columns of one: an identifier, `Label` (1
#'   for targets, -1 for decoys), `ScanNr`, features, `Peptide` and `Proteins`.
#' @param test_fdr,train_fdr false discovery rates of results and of the positives that training learns from.
#' @param iterations how often positives are chosen anew.
#' @param proteins whether to give proteins too.
#' @param seed of the folds; `NULL`: drawn from R's generator.
#' @param control see [sheaf_control()].
#' @param ... further parameters by name; `sheaf_parameters("percolator")` lists them.
#' @return An object of class `sheaf_percolator`: data frames `psms`, `peptides` and `proteins` from the best to the
#'   worst (`target`, `score`, `q`, `pep`), `weights` of each fold for features as they are, `accepted` (targets with q
#'   below `test_fdr`), `by_iteration`, and others.
#' @references Kall and others (2007) Semi-supervised learning for peptide identification from shotgun proteomics
#'   datasets.
#' @examples
#' # A search with 1000 good matches among 2000 targets.
#' set.seed(1)
#' good <- rep(c(TRUE, FALSE), c(1000, 3000))
#' id <- seq_along(good)
#' pin <- data.frame(SpecId = id, Label = rep(c(1, -1), each = 2000), ScanNr = id,
#'                   score = rnorm(4000, 3 * good), delta = rnorm(4000, 2 * good),
#'                   Peptide = paste0("K.PEP", id, ".R"), Proteins = paste0("protein", id))
#' found <- sheaf_percolator(pin, seed = 1)
#' found
#' @export
sheaf_percolator <- function(x, test_fdr = 0.01, train_fdr = 0.01, iterations = 10, proteins = FALSE, seed = NULL,
                             control = list(), ...) {
  call <- match.call()
  if (is.data.frame(x)) {
    file <- write_pin(x)
    on.exit(unlink(file))
  } else {
    if (!is.character(x) || length(x) == 0 || anyNA(x)) stop_argument("x", "must be paths of files, or a data frame")
    file <- path.expand(x)
  }
  settings <- rbind(setting("fdr", test_fdr, "test_fdr"), setting("train-fdr", train_fdr, "train_fdr"),
                    setting("iterations", iterations), setting("proteins", one_flag(proteins, "proteins")),
                    settings_of(list(...), "..."))
  found <- core(core_percolator(as_control(control, draw_seed(seed)), file, settings))
  warn_each(found$warnings)
  weights <- matrix(unlist(found$raw), ncol = length(found$raw))
  rownames(weights) <- c(found$feature_names, "(Intercept)")
  found$proteins$peptides <- lengths(found$proteins$peptides)
  kept <- c("psms", "peptides", "proteins", "accepted", "accepted_peptides", "initial", "pi0", "fell_back", "test_fdr",
            "warnings")
  structure(c(list(call = call), found[kept], list(weights = weights, by_iteration = found$tested)),
            class = "sheaf_percolator")
}

write_pin <- function(x) {
  needed <- c("Label", "ScanNr", "Peptide", "Proteins")
  missing <- needed[!tolower(needed) %in% tolower(names(x))]
  if (length(missing) > 0) stop_argument("x", "has no column '", missing[1], "'")
  if (anyNA(x)) stop_argument("x", "has missing values (NA)")
  file <- tempfile(fileext = ".pin")
  utils::write.table(x, file, sep = "\t", quote = FALSE, row.names = FALSE)
  file
}

#' @export
print.sheaf_percolator <- function(x, ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat(x$accepted, " of ", sum(x$psms$target), " target PSMs at a false discovery rate of ", x$test_fdr, " (", x$initial,
      " by the best feature alone)\n", sep = "")
  if (nrow(x$peptides) > 0) cat(x$accepted_peptides, "of", sum(x$peptides$target), "peptides\n")
  if (nrow(x$proteins) > 0) cat(sum(x$proteins$target & x$proteins$q < x$test_fdr), "proteins\n")
  invisible(x)
}

#' @export
coef.sheaf_percolator <- function(object, ...) object$weights
