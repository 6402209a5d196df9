SELECT label, x, density, lower, upper FROM race_curve('red by kind', 'red', 128)
