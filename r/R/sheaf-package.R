#' Sheaf for R
#'
#' Generalised linear models, elastic nets, support vector machines, linear models, nearest neighbours and the selection
#' of features, over the C++ library Sheaf. A whole search (all penalties on all folds) is trained as one piece of work
#' over data that are held once.
#'
#' @section What there is:
#' * [sheaf_glm()]: generalised linear models with standard errors, as `glm()`, `nnet::multinom()` and `MASS::glm.nb()`
#' * [sheaf_net()], [cv_sheaf_net()]: elastic nets, as package glmnet
#' * [sheaf_svm()], [tune_sheaf_svm()]: support vector machines, as package e1071
#' * [sheaf_linear()]: linear models of LIBLINEAR, as package LiblineaR
#' * [sheaf_knn()], [sheaf_local()]: nearest neighbours and local models
#' * [sheaf_search()]: the best model of any family by cross-validation, with all steps before it inside the folds
#' * [sheaf_select()], [sheaf_study()]: features by a criterion, and features that are chosen again and again
#' * [sheaf_neighbors()], [sheaf_distances()]: exact nearest rows and distances
#' * [sheaf_percolator()]: rescoring of peptide-spectrum matches
#' * [cuda_elementwise()], [cuda_reduce()], [cuda_kernel()], [as_cuda()]: functions of your own on a GPU
#'
#' @section Conventions:
#' Matrices of numbers, `dgCMatrix` and data frames are taken without a copy on the side of R. A factor gives a model of
#' its classes, and predictions are factors with the same levels; of two classes decision values, probabilities and
#' weights speak for the second level, as in `glm()`. Random numbers come from a seed that is drawn once from R's
#' generator, so that `set.seed()` makes results the same for any number of threads. Work can be interrupted. What is
#' wrong with an argument is a condition of class `sheaf_error` whose message and element `argument` name it.
#'
#' @keywords internal
#' @aliases sheaf
#' @useDynLib sheaf, .registration = TRUE
#' @importFrom Rcpp sourceCpp
#' @importFrom methods as is new
#' @importFrom generics tidy glance augment
#' @importFrom Matrix crossprod tcrossprod rowSums colSums rowMeans colMeans Diagonal
#' @importFrom methods setClass setMethod show signature
"_PACKAGE"

#' @export
generics::tidy
#' @export
generics::glance
#' @export
generics::augment

# The pronoun of ggplot2's aes(), and columns that it looks up.
utils::globalVariables(".data")
