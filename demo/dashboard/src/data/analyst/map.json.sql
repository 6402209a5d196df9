SELECT x1, x2, density, stderr FROM race_heatmap('colours', 'red', 'green', 48)
