-- Data for the demo from RACEPRIV_DATA: the red value of skin and other pixels
-- (UCI Skin Segmentation), and pulsars among candidates (HTRU2), columns scaled
-- to [0, 1] by bounds that are public.
CREATE TABLE skin (b float8, g float8, r float8, class int);
\copy skin FROM PROGRAM 'zcat "$RACEPRIV_DATA"/skin.csv.gz' (FORMAT csv, HEADER)
CREATE TABLE pulsar (x1 float8, x2 float8, x3 float8, x4 float8, x5 float8, x6 float8, x7 float8, x8 float8, class int);
\copy pulsar FROM PROGRAM 'zcat "$RACEPRIV_DATA"/pulsar.csv.gz' (FORMAT csv, HEADER)

CREATE TABLE density_source AS SELECT ARRAY[r] AS x FROM skin;
CREATE TABLE density_plan AS
SELECT 'red values of 245,057 pixels (skin)' AS title, 'of 255' AS unit, 5.0 AS bandwidth, 0 AS low, 240 AS high;

CREATE TABLE class_source AS
SELECT CASE class WHEN 1 THEN 'pulsar' ELSE 'noise' END AS label,
       ARRAY[x1 / 200, x2 / 100, (x3 + 2) / 12, (x4 + 2) / 72,
             x5 / 225, x6 / 112, (x7 + 5) / 40, (x8 + 5) / 1205] AS x
FROM pulsar;
CREATE TABLE class_plan AS
SELECT '17,898 pulsar candidates, 8 measurements' AS title, 8 AS dims, 0.3 AS bandwidth;
