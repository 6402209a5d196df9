SELECT x, mean, lower, upper FROM race_mean_curve('blue by red', 'red', 64)
