skip_if_not(nzchar(Sys.which("c++")), "a C++ compiler")
options(sheaf.device = "cpu", sheaf.cache = FALSE)

test_that("snippets compute each element", {
  f <- cuda_elementwise("double x, double y", "double z", "z = exp(x) * y;")
  x <- c(a = 0, b = 1, c = 2)
  expect_equal(f(x, 10), 10 * exp(unname(x)))
  expect_equal(f(y = 2, x = x), 2 * exp(unname(x)))
  m <- matrix(1:6, 2)
  expect_equal(f(m, m), exp(m) * m)
  expect_output(print(f), "elementwise snippet of double x, double y")
  several <- cuda_elementwise("int k, raw unsigned char table", c("int twice, unsigned char byte, float half"),
                              "twice = 2 * k;\nbyte = table[i % 2];\nhalf = k / 2.0;")
  expect_identical(several(1:3, as.raw(7:8)),
                   list(twice = 2L * 1:3, byte = as.raw(c(7, 8, 7)), half = c(0.5, 1, 1.5)))
})

test_that("results stay on the device where an input is there", {
  f <- cuda_elementwise("double x, double y", "double z", "z = x + y;")
  d <- as_cuda(matrix(1:4 / 2, 2))
  z <- f(d, matrix(1, 2, 2))
  expect_s4_class(z, "sheaf_array")
  expect_equal(as.matrix(z), matrix(1:4 / 2, 2) + 1)
  expect_names_argument(f(d, as_cuda(1:4)), "y")
  cuda_free(d)
  expect_error(as.matrix(d), "freed", class = "sheaf_error")
})

test_that("reductions are R's", {
  squares <- cuda_reduce("double x", map = "x * x", reduce = "a + b", identity = 0)
  largest <- cuda_reduce("double x, double w", "x * w", "fmax(a, b)", "-1e300")
  m <- matrix(rnorm(600), 20)
  expect_equal(squares(m), sum(m^2))
  expect_equal(squares(m, margin = 1), rowSums(m^2))
  expect_equal(squares(m, margin = 2), colSums(m^2))
  expect_equal(largest(m, 2), 2 * max(m))
  expect_s4_class(squares(as_cuda(m), margin = 1), "sheaf_array")
  expect_type(squares(as_cuda(m)), "double")
  expect_names_argument(squares(m, margin = 3), "margin")
})

test_that("kernels write into arrays", {
  k <- cuda_kernel("
    __global__ void shift(const double* x, double* y, int n, double by) {
      __shared__ double part[32];
      const int t = threadIdx.x, first = blockIdx.x * blockDim.x;
      if (first + t < n) part[t] = x[first + t] + by;
      __syncthreads();
      if (first + t < n) y[first + t] = part[t];
    }", "shift")
  x <- as_cuda(as.numeric(1:100))
  y <- as_cuda(numeric(100))
  expect_null(k(4, 32, x, y, 100L, 0.5))
  expect_equal(as.vector(y), 1:100 + 0.5)
  expect_error(k(4, 32, 1:100, y, 100, 0.5), "as_cuda", class = "sheaf_error")
  expect_names_argument(k(4, 32, x, y, 1.5, 0.5), "n")
  expect_names_argument(k(0, 32, x, y, 100, 0.5), "grid")
  expect_names_argument(k(1, 4096, x, y, 100, 0.5), "block")
  expect_names_argument(cuda_kernel("void f() {}", "f"), "name")
})

test_that("errors have the snippet's line and a caret", {
  wrong <- cuda_elementwise("double x", "double z", "double y = 2 * x;\nz = y + missing;")
  message <- tryCatch(wrong(1), sheaf_error = conditionMessage)
  expect_match(message, "snippet:2")
  expect_match(message, "z = y + missing;", fixed = TRUE)
  expect_match(message, "^", fixed = TRUE)
  expect_names_argument(cuda_elementwise("dubble x", "double y", ""), "inputs")
  expect_names_argument(cuda_elementwise("double x", 1, ""), "outputs")
  expect_error(cuda_elementwise("double x", "double y", "y = x;")(1, 2), "takes 1 arguments", class = "sheaf_error")
  expect_names_argument(cuda_elementwise("double x", "double y", "y = x;")(z = 1), "z")
})

test_that("a GPU that is not there is an error", {
  skip_if(any(subset(sheaf_devices(), device != "cpu")$usable), "a GPU is there")
  expect_error(as_cuda(1:3, device = "cuda"), class = "sheaf_error")
  f <- cuda_elementwise("double x", "double y", "y = x;", device = "cuda")
  expect_error(f(1), class = "sheaf_error")
})

test_that("snippets compile for GPUs that are not there", {
  compiled <- tryCatch(cuda_compile(cuda_elementwise("double x", "double y", "y = x;")), sheaf_error = conditionMessage)
  skip_if(is.character(compiled), "NVRTC is not installed")
  wrong <- cuda_elementwise("double x", "double y", "\ny = nothing;")
  expect_error(cuda_compile(wrong), "snippet(2)", fixed = TRUE, class = "sheaf_error")
})

test_that("compiled snippets are kept", {
  folder <- tempfile()
  old <- options(sheaf.cache = folder)
  on.exit(options(old))
  expect_equal(cuda_elementwise("double x", "double y", "y = 3 * x;")(2), 6)
  expect_match(list.files(folder), "\\.so$")
  options(sheaf.cache = NULL)
  expect_match(snippet_cache(), if (nzchar(Sys.getenv("_R_CHECK_PACKAGE_NAME_"))) "^$" else "snippets$")
})

test_that("arrays compute as R does", {
  set.seed(3)
  m <- matrix(rnorm(12), 3)
  n <- matrix(runif(12) + 0.5, 3)
  v <- c(1, 2, 3)
  for (type in c("double", "float")) {
    close <- if (type == "double") 1e-12 else 1e-5
    a <- as_cuda(m, type)
    b <- as_cuda(n, type)
    expect_output(show(a), paste0(type, " array on cpu: 3 x 4"))
    expect_identical(dim(a), c(3L, 4L))
    expect_identical(length(a), 12L)
    for (f in list(`+`, `-`, `*`, `/`, `%%`, `%/%`, function(x, y) abs(x)^y)) {
      expect_close(as.matrix(f(a, b)), f(m, n), close)
      expect_close(as.matrix(f(a, 2)), f(m, 2), close)
      expect_close(as.matrix(f(v, b)), f(v, n), close)
    }
    for (f in list(`-`, abs, exp, cos, floor, function(x) log(x^2), function(x) sqrt(abs(x)), round, tanh)) {
      expect_close(as.matrix(f(a)), f(m), close)
    }
    expect_equal(as.matrix(a < 0), (m < 0) * 1)
    expect_equal(as.matrix(!(a < 0) & b > 1), (!(m < 0) & n > 1) * 1)
    expect_close(c(sum(a), mean(a), min(a), max(a), range(a)), c(sum(m), mean(m), min(m), max(m), range(m)), close)
    expect_identical(c(any(a > 100), all(a < 100)), c(FALSE, TRUE))
    expect_close(as.vector(rowSums(a)), rowSums(m), close)
    expect_close(as.vector(colSums(a)), colSums(m), close)
    expect_close(as.vector(rowMeans(a)), rowMeans(m), close)
    expect_close(as.vector(colMeans(a)), colMeans(m), close)
    expect_close(as.matrix(a %*% t(b)), m %*% t(n), close)
    expect_close(as.matrix(a %*% 1:4), m %*% 1:4, close)
    expect_close(as.matrix(v %*% a), v %*% m, close)
    expect_close(as.matrix(m %*% t(b)), m %*% t(n), close)
    expect_close(as.matrix(crossprod(a)), crossprod(m), close)
    expect_close(as.matrix(crossprod(a, n)), crossprod(m, n), close)
    expect_close(as.matrix(tcrossprod(m, b)), tcrossprod(m, n), close)
    expect_close(as.matrix(crossprod(v, a)), crossprod(v, m), close)
  }
  expect_equal(as.matrix(as_cuda(as_cuda(1:3), "double")), matrix(c(1, 2, 3)))
  expect_identical(as.integer(as_cuda(c(TRUE, FALSE))), c(1L, 0L))
  expect_identical(as.vector(as_cuda(as.raw(1:3))), as.raw(1:3))
  expect_error(as_cuda(matrix(0, 2, 2)) + as_cuda(matrix(0, 3, 2)), "non-conformable")
  expect_error(as_cuda(1:3) %*% as_cuda(matrix(0, 2, 2)), class = "sheaf_error")
  expect_error(cumsum(as_cuda(1:3)), "as.matrix", class = "sheaf_error")
  expect_error(prod(as_cuda(1:3)), "as.matrix", class = "sheaf_error")
  expect_names_argument(as_cuda("a"), "x")
  expect_names_argument(rowSums(as_cuda(1:3)), "x")
})

test_that("models take matrices of a device", {
  x <- as.matrix(iris[, 1:4])
  d <- as_cuda(x)
  plain <- unname(x)
  expect_equal(coef(sheaf_glm(d, iris$Sepal.Length > 5.8, alpha = 0.1)),
               coef(sheaf_glm(plain, iris$Sepal.Length > 5.8, alpha = 0.1)))
  expect_identical(sheaf_svm(d, iris$Species)$fitted, sheaf_svm(plain, iris$Species)$fitted)
  expect_identical(predict(sheaf_knn(plain, iris$Species), d), predict(sheaf_knn(plain, iris$Species), plain))
  expect_equal(as.matrix(sheaf_distances(d)), as.matrix(sheaf_distances(plain)))
  expect_names_argument(sheaf_svm(as_cuda(1:150), iris$Species), "x")
})

test_that("kernels may have names of C, and take what sheaf_control() returns", {
  twice <- cuda_kernel('extern "C" __global__ void twice(double* x) { x[threadIdx.x] *= 2; }', "twice", device = "cpu",
                       control = sheaf_control(threads = 1))
  x <- as_cuda(c(1, 2.5), device = "cpu")
  twice(1, 2, x)
  expect_equal(as.vector(x), c(2, 5))
})
