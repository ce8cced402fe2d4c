sheaf-model 1
family linear
label label
trained-on 2
means 3.375 1.688
spreads 1.516 0.7881
classes 0
features 2
solver L2R_L2LOSS_SVR
names yes
bias 1 penalised
cost 1
epsilon 0
training 1
converged 2 steps 4 products objective 2.435192933519293 gradient 4.5679977603168954e-14 tolerance 0.35925333876429894
bias-weights 0.20585774058577433
weights 2
1 1.9652254765225479 height
2 0.9399349139934908 width
