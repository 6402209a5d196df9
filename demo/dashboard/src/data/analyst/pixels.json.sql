SELECT p.point, 255 * ((p.point - 1) % 5) / 4 AS red, 255 * ((p.point - 1) / 5) / 4 AS green, p.typicality, p.share
FROM race_outliers('colours', ARRAY(
	SELECT ARRAY[255 * (i % 5) / 4, 255 * (i / 5) / 4]::float8[] FROM generate_series(0, 24) i)) p
ORDER BY p.share, p.typicality
