sheaf-model 1
family svm
label label
trained-on 2
means 3.375 1.688
spreads 1.516 0.7881
classes 0
features 2
type epsilon_svr
kernel rbf
degree 3
gamma 0.5
coef0 0
multi-class one-vs-one
decide automatic
names yes
feature height
feature width
cost 1
nu 0.5
epsilon 0.1
svms 1
rho -8.314045311242808 converged 4 steps objective -15.507402387918395 violation 0 margin 1 bounded 6 rows 8
support 8
0 1 0 -1 1:1 2:2.5
0 1 0 -1 1:2 2:1
0 1 0 -1 1:3 2:0.5
0 1 0 1 1:4 2:3
0 1 0 1 1:5 2:2
0 1 0 1 1:6 2:1.5
0 1 0 -0.5514032335286295 1:2.5 2:2
0 1 0 0.5514032335286295 1:3.5 2:1
