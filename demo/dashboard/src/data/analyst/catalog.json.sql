SELECT name, version, description, columns, units, lower, upper, round(count) AS count, epsilon, released_at FROM race_catalog ORDER BY name
