x <- as.matrix(mtcars[, c("wt", "hp", "qsec")])

written <- function(fit, ...) {
  file <- tempfile()
  sheaf_write_model(fit, file, ...)
  sheaf_read_model(file)
}

test_that("generalised linear models go through files", {
  fit <- sheaf_glm(x, mtcars$mpg)
  model <- written(fit)
  expect_close(predict(model, x), predict(fit, x), 1e-12)
  expect_close(coef(model)[, 1], coef(fit), 1e-12)
  expect_close(predict(model, x[, 3:1]), predict(fit, x), 1e-12)
  classes <- factor(c("no", "yes"))[mtcars$am + 1]
  fit <- sheaf_glm(x[, 1:2], classes)
  model <- written(fit)
  expect_identical(as.character(predict(model, x)), as.character(predict(fit, x[, 1:2], type = "class")))
  expect_close(predict(model, x, "prob")[, "yes"], predict(fit, x[, 1:2], type = "response"), 1e-9)
  counts <- sheaf_glm(carb ~ wt + hp, family = poisson, data = mtcars)
  expect_close(predict(written(counts), mtcars), predict(counts, type = "response"), 1e-12)
  kept <- tempfile(fileext = ".rds")
  saveRDS(counts, kept)
  expect_close(predict(written(readRDS(kept)), mtcars), predict(counts, type = "response"), 1e-12)
  expect_output(print(model), "classes")
  expect_names_argument(sheaf_read_model(3), "file")
  expect_error(sheaf_read_model(tempfile()), class = "sheaf_error")
  expect_names_argument(sheaf_write_model(mtcars, tempfile()), "object")
})

test_that("elastic nets go through files", {
  fit <- sheaf_net(x, mtcars$mpg, alpha = 0.5)
  model <- written(fit, s = 0.3)
  expect_close(predict(model, x), predict(fit, x, s = 0.3), 1e-12)
  expect_close(coef(model), as.matrix(coef(fit, s = 0.3)), 1e-12)
  expect_names_argument(sheaf_write_model(fit, tempfile()), "s")
  classes <- factor(c("no", "yes"))[mtcars$am + 1]
  fit <- sheaf_net(x, classes, "binomial")
  expect_close(predict(written(fit, s = 0.1), x, "prob")[, "yes"], predict(fit, x, s = 0.1, type = "response"), 1e-12)
  for (type in c("ungrouped", "grouped")) {
    fit <- sheaf_net(as.matrix(iris[1:4]), iris$Species, "multinomial", type.multinomial = type)
    expect_close(predict(written(fit, s = 0.02), iris[1:4], "prob"),
                 predict(fit, as.matrix(iris[1:4]), s = 0.02, type = "response"), 1e-9)
  }
  several <- sheaf_net(x, mtcars[c("mpg", "drat")], "mgaussian")
  model <- written(several, s = 0.2)
  expect_close(predict(model, x), predict(several, x, s = 0.2), 1e-12)
  expect_identical(colnames(predict(model, x)), c("mpg", "drat"))
  fit <- sheaf_net(x, mtcars$mpg, "huber")
  expect_close(predict(written(fit, s = 0.1), x), predict(fit, x, s = 0.1), 1e-12)
  relaxed <- sheaf_net(x, mtcars$mpg, relax = TRUE)
  expect_close(predict(written(relaxed, s = 1, gamma = 0.5), x), predict(relaxed, x, s = 1, gamma = 0.5), 1e-12)
  set.seed(1)
  cv <- cv_sheaf_net(x, mtcars$mpg, nfolds = 4)
  expect_close(predict(written(cv, s = "lambda.min"), x), predict(cv, x, s = "lambda.min"), 1e-12)
  skip_if_not_installed("survival")
  cox <- sheaf_net(x, survival::Surv(mtcars$mpg, mtcars$am), "cox")
  expect_close(predict(written(cox, s = 0.05), x, "decision"), predict(cox, x, s = 0.05), 1e-12)
})
