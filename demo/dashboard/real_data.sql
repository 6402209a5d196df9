-- Pixels from RACEPRIV_DATA: UCI Skin Segmentation.
CREATE TABLE raw (id serial, b float8, g float8, r float8, class int);
\copy raw (b, g, r, class) FROM PROGRAM 'zcat "$RACEPRIV_DATA"/skin.csv.gz' (FORMAT csv, HEADER)
