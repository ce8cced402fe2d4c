#' Handwritten digits
#'
#' 1,797 pictures of digits, 8 x 8 pixels of 0 (white) to 16 (black): the test part of "Optical Recognition of
#' Handwritten Digits".
#'
#' @format A list of `x`, a matrix with a row for each picture whose 64 columns are its pixels row by row, and `y`, a
#'   factor of the digits.
#' @source Alpaydin and Kaynak (1998), UCI Machine Learning Repository, CC BY 4.0; as in scikit-learn's `load_digits()`.
#' @examples
#' plot_digits(digits$x[1:10, ], digits$y[1:10], columns = 5)
"digits"

#' Bacteria of colorectal tumours
#'
#' Counts of 3,102 kinds of bacteria (operational taxonomic units) in 86 samples of colorectal tumours and 86 of healthy
#' tissue beside them.
#'
#' @format A list of `x`, a `dgCMatrix` of counts with a row for each sample, and `y`, a factor.
#' @source Kostic and others (2012) Genomic analysis identifies association of Fusobacterium with colorectal carcinoma;
#'   from the Microbiome Learning Repo (ML Repo) of the Knights Lab, MIT licence.
#' @examples
#' dim(kostic$x)
#' table(kostic$y)
"kostic"

#' Read the MNIST database
#'
#' @param path a folder with the four files of the MNIST database (`train-images-idx3-ubyte` and so on, compressed by
#'   gzip or not), or with `train.libsvm` and `test.libsvm` (or the same with `.xz`, `.gz`).
#' @return A list of `train` and `test`, each of them a list of `x`, a matrix with a row of 784 numbers of 0 to 255 for
#'   each picture, and `y`, a factor of the digits.
#' @seealso `demo("mnist")`, `vignette("mnist")`
#' @examples
#' \dontrun{
#' mnist <- read_mnist("~/mnist")
#' plot_digits(mnist$test$x[1:100, ], mnist$test$y[1:100])
#' }
#' @export
read_mnist <- function(path) {
  if (!is.character(path) || length(path) != 1 || !dir.exists(path)) stop_argument("path", "must be a folder")
  one <- function(part, prefix) {
    libsvm <- list.files(path, paste0("^", part, "\\.libsvm(\\.[a-z]+)?$"), full.names = TRUE)
    if (length(libsvm) > 0) return(read_mnist_libsvm(libsvm[1]))
    images <- list.files(path, paste0("^", prefix, "-images[-.]idx3-ubyte(\\.gz)?$"), full.names = TRUE)
    labels <- list.files(path, paste0("^", prefix, "-labels[-.]idx1-ubyte(\\.gz)?$"), full.names = TRUE)
    if (length(images) == 0 || length(labels) == 0) {
      stop_argument("path", "has neither ", prefix, "-images-idx3-ubyte and its labels nor ", part, ".libsvm")
    }
    list(x = read_idx(images[1], 3), y = factor(read_idx(labels[1], 1), levels = 0:9))
  }
  list(train = one("train", "train"), test = one("test", "t10k"))
}

read_mnist_libsvm <- function(file) {
  found <- sheaf_read(file)
  x <- matrix(0, nrow(found$x), 784)
  x[, seq_len(ncol(found$x))] <- as.matrix(found$x)
  list(x = x, y = found$y)
}

# The format of the MNIST database: a number that tells the dimensions, their sizes, then bytes row by row.
read_idx <- function(file, dimensions) {
  connection <- gzfile(file, "rb")
  on.exit(close(connection))
  magic <- readBin(connection, "integer", 1, endian = "big")
  if (length(magic) != 1 || magic != 2048 + dimensions) {
    stop_argument("path", "'", file, "' is no file of bytes of ", dimensions, " dimensions in IDX format")
  }
  size <- readBin(connection, "integer", dimensions, endian = "big")
  values <- readBin(connection, "integer", prod(size), size = 1, signed = FALSE)
  if (length(size) != dimensions || length(values) != prod(size)) stop_argument("path", "'", file, "' ends too early")
  if (dimensions == 1) return(values)
  x <- matrix(values, size[1], prod(size[-1]), byrow = TRUE)
  storage.mode(x) <- "double"
  x
}

#' Pictures side by side
#'
#' @param x a matrix with a row for each picture, whose pixels stand row by row; or one picture.
#' @param titles what to write above each picture; `NULL`: nothing.
#' @param columns number of pictures in a row; `NULL`: about as many as there are rows of pictures.
#' @param signed whether values below 0 are shown too, in red, those above in blue; `NULL`: where there are any.
#' @param height,width of a picture in pixels; `NULL`: pictures are square.
#' @return `x`, invisibly.
#' @examples
#' plot_digits(digits$x[1:100, ], digits$y[1:100])
#' @export
plot_digits <- function(x, titles = NULL, columns = NULL, signed = NULL, height = NULL, width = NULL) {
  if (is.null(dim(x))) x <- matrix(x, 1)
  x <- as.matrix(as_features(x))
  if (is.null(height)) height <- if (is.null(width)) round(sqrt(ncol(x))) else ncol(x) / width
  if (is.null(width)) width <- ncol(x) / height
  if (height != round(height) || width != round(width) || height * width != ncol(x)) {
    stop_argument("x", "has ", counted(ncol(x), "column"), ", not ", height, " x ", width)
  }
  if (!is.null(titles) && length(titles) != nrow(x)) {
    stop_argument("titles", "must be one for each of ", nrow(x), " rows")
  }
  if (is.null(columns)) columns <- ceiling(sqrt(nrow(x)))
  if (is.null(signed)) signed <- any(x < 0)
  shades <- if (signed) grDevices::hcl.colors(101, "Blue-Red 2", rev = TRUE) else grDevices::gray.colors(101, 1, 0)
  above <- if (is.null(titles)) 0.1 else 1.1
  old <- graphics::par(mfrow = c(ceiling(nrow(x) / columns), columns), mar = c(0.1, 0.1, above, 0.1))
  on.exit(graphics::par(old))
  for (i in seq_len(nrow(x))) {
    picture <- matrix(x[i, ], width, height)[, rev(seq_len(height)), drop = FALSE]
    limits <- if (signed) c(-1, 1) * max(abs(x[i, ]), 1e-300) else range(x, 1)
    graphics::image(picture, zlim = limits, col = shades, axes = FALSE, asp = height / width)
    if (!is.null(titles)) graphics::text(0.5, 1 + 0.5 / height, titles[i], adj = c(0.5, 0), font = 2, xpd = NA)
  }
  invisible(x)
}
