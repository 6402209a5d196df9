SELECT "time", version, count, distance, p_value FROM race_versions('red')
