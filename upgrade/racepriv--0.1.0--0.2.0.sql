\echo Use "ALTER EXTENSION racepriv UPDATE" to load this file. \quit
-- Made by upgrade/make_upgrade: make upgrade-script

DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW race_latest_releases SET (security_invoker = true);
	END IF;
END $$;

