SELECT x, density, lower, upper, count_per_unit FROM race_curve('red', 'red', 256)
