# The genes of run.sh in R: cv.glmnet's interface, and a study of which genes are chosen again and again.
library(sheaf)
genes <- sheaf_read("genes.csv.gz")
x <- genes$x
y <- genes$y

set.seed(3)
cv <- cv_sheaf_net(x, y, family = "binomial", type.measure = "auc", nfolds = 5)
chosen <- coef(cv, s = "lambda.1se")
print(sum(chosen != 0) - 1)

study <- sheaf_study(x, y, resamples = 10, seed = 3)
print(study$stability)
print(head(study$features[order(-study$features$frequency), c("feature", "frequency")]))
