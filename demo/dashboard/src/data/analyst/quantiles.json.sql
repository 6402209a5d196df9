SELECT p, value, lower, upper FROM race_quantiles('red', 'red', '{0.25,0.5,0.75}')
