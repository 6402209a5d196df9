-- The image runs this once, when it makes its database (POSTGRES_DB).
CREATE EXTENSION racepriv;
CREATE EXTENSION racepriv_release;
