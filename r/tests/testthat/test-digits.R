test_that("all solvers find the same model of the digits", {
  few <- digits$y %in% 0:4  # Newton's matrices of all classes take seconds
  x <- digits$x[few, ] / 16
  y <- droplevels(digits$y[few])
  first <- seq_len(400)
  found <- lapply(c("newton", "newton-cg", "lbfgs"), function(solver) {
    sheaf_glm(x[first, ], y[first], family = "multinomial", alpha = 0.01, solver = solver, tolerance = 1e-7)
  })
  errors <- vapply(found, function(fit) mean(predict(fit, x[-first, ], type = "class") != y[-first]), 0)
  expect_lt(errors[1], 0.1)
  expect_equal(errors, rep(errors[1], 3))
  expect_lt(diff(range(vapply(found, deviance, 0))) / deviance(found[[1]]), 1e-4)
})

# Zhou's setting: 2,000 digits of MNIST.
test_that("2,000 digits of MNIST are learnt by all solvers alike", {
  beside <- do.call(file.path, as.list(c(testthat::test_path(), rep("..", 4), "shared", "data", "mnist")))
  folder <- Sys.getenv("SHEAF_MNIST", beside)
  skip_if_not(dir.exists(folder), "MNIST is not there")
  train <- sheaf_read(list.files(folder, "^train\\.libsvm", full.names = TRUE)[1])
  test <- sheaf_read(list.files(folder, "^test\\.libsvm", full.names = TRUE)[1])
  columns <- seq_len(min(ncol(train$x), ncol(test$x)))
  x <- train$x[1:2000, columns] / 255
  errors <- vapply(c("newton-cg", "lbfgs"), function(solver) {
    fit <- sheaf_glm(x, train$y[1:2000], family = "multinomial", alpha = 0.01, solver = solver, tolerance = 1e-4,
                     model = FALSE)
    mean(predict(fit, test$x[, columns] / 255, type = "class") != test$y)
  }, 0)
  expect_lte(max(errors), 0.155)
  expect_equal(errors[[1]], errors[[2]], tolerance = 1e-3)
})

test_that("MNIST is read from its own files", {
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  write_idx <- function(name, size, values, open = file) {
    to <- open(file.path(folder, name), "wb")
    writeBin(as.integer(c(2048 + length(size), size)), to, endian = "big")
    writeBin(as.raw(values), to)
    close(to)
  }
  write_idx("train-images-idx3-ubyte.gz", c(2, 2, 3), 0:11 * 20, gzfile)
  write_idx("train-labels-idx1-ubyte.gz", 2, c(7, 3), gzfile)
  write_idx("t10k-images-idx3-ubyte", c(1, 2, 3), 6:1)
  expect_names_argument(read_mnist(folder), "path")
  write_idx("t10k-labels-idx1-ubyte", 1, 5)
  mnist <- read_mnist(folder)
  expect_identical(mnist$train$x, matrix(0:11 * 20, 2, byrow = TRUE))
  expect_identical(mnist$train$y, factor(c(7, 3), levels = 0:9))
  expect_identical(mnist$test$x, matrix(as.double(6:1), 1))
  write_idx("t10k-labels-idx1-ubyte", c(1, 1, 1), 5)
  expect_names_argument(read_mnist(folder), "path")
  expect_names_argument(read_mnist("nowhere"), "path")
})

test_that("pictures are drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot_digits(digits$x[1:3, ], digits$y[1:3]), digits$x[1:3, ] * 1)
  expect_silent(plot_digits(matrix(-3:2, 1), width = 3, height = 2))
  expect_names_argument(plot_digits(matrix(0, 1, 5), height = 2), "x")
  expect_names_argument(plot_digits(digits$x[1:3, ], 1:2), "titles")
})

test_that("columns about rows are read with the rows", {
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  counts <- file.path(folder, "counts.csv")
  samples <- file.path(folder, "samples.csv")
  writeLines(c("id,a,b", "s1,1,0", "s2,0,2", "s3,4,NA"), counts)
  writeLines(c("sample,diet,mouse,mass", "s3,high,m2,21", "s1,low,m1,20", "s2,high,m1,25"), samples)
  found <- sheaf_read(counts, metadata = samples, label = "diet", group = "mouse", weight_column = "mass",
                      id = "sample")
  expect_identical(as.character(found$y), c("low", "high", "high"))
  expect_identical(as.character(found$groups), c("m1", "m1", "m2"))
  expect_equal(found$weights, c(20, 25, 21))
  expect_identical(dimnames(found$x), list(c("s1", "s2", "s3"), c("a", "b")))
  expect_equal(unname(found$x), cbind(c(1, 0, 4), c(0, 2, NA)))
  table <- file.path(folder, "trial.csv")
  writeLines(c("x,arm,days,died,size", "1,old,12,1,3", "2,new,30,0,5", "3,old,7,1,4"), table)
  survival <- sheaf_read(table, label = "days", event = "died")
  expect_equal(survival$y, cbind(time = c(12, 30, 7), status = c(1, 0, 1)))
  several <- sheaf_read(table, label = "days,size", ignore = c("arm", "died"))
  expect_equal(several$y, cbind(days = c(12, 30, 7), size = c(3, 5, 4)))
  expect_names_argument(sheaf_read(table, labels = "days"), "labels")
})

test_that("files are read", {
  file <- tempfile(fileext = ".csv")
  utils::write.csv(iris, file, row.names = FALSE)
  found <- sheaf_read(file)
  expect_equal(unname(found$x), unname(as.matrix(iris[, 1:4])))
  expect_identical(as.character(found$y), as.character(iris$Species))
  file <- tempfile(fileext = ".libsvm")
  writeLines(c("10 1:0.5 3:2", "9 2:1", "10 3:1.5"), file)
  sparse <- sheaf_read(file)
  expect_equal(unname(as.matrix(sparse$x)), rbind(c(0.5, 0, 2), c(0, 1, 0), c(0, 0, 1.5)))
  expect_identical(sparse$y, c(10, 9, 10))
  expect_error(sheaf_read("nowhere.csv"), class = "sheaf_error")
  expect_names_argument(sheaf_read(1), "file")
})
