SELECT budget, epsilon_limit, spent_epsilon, epsilon_left, charges, race_refreshes_left('red') AS refreshes_left
FROM race_budget_status WHERE budget = 'pixels'
