-- Checks of limits and costs compare numeric with numeric, so that no operator that somebody
-- has made in this schema is preferred.
-- covers: TABLE race_budgets epsilon_limit
-- covers: TABLE race_budgets delta_limit
-- covers: TABLE race_charges epsilon
-- covers: TABLE race_charges delta
-- covers: TABLE race_charges rho
ALTER TABLE race_budgets
	DROP CONSTRAINT race_budgets_epsilon_limit_check,
	DROP CONSTRAINT race_budgets_delta_limit_check,
	ADD CONSTRAINT race_budgets_epsilon_limit_check CHECK (epsilon_limit > 0.0 AND epsilon_limit <= 1e15),
	ADD CONSTRAINT race_budgets_delta_limit_check CHECK (delta_limit >= 0.0 AND delta_limit < 1.0);
ALTER TABLE race_charges
	DROP CONSTRAINT race_charges_epsilon_check,
	DROP CONSTRAINT race_charges_delta_check,
	DROP CONSTRAINT race_charges_rho_check,
	ADD CONSTRAINT race_charges_epsilon_check CHECK (epsilon >= 0.0),
	ADD CONSTRAINT race_charges_delta_check CHECK (delta >= 0.0),
	ADD CONSTRAINT race_charges_rho_check CHECK (rho >= 0.0);
-- An untyped value in a question is a sketch, not moments.
-- covers: TYPE race_sketch
UPDATE pg_catalog.pg_type SET typcategory = 'r', typispreferred = true
	WHERE oid OPERATOR(pg_catalog.=) '@extschema@.race_sketch'::pg_catalog.regtype::pg_catalog.oid;
-- A release has sketches or moments.
-- covers: TABLE race_releases sketch
ALTER TABLE race_releases ALTER COLUMN sketch DROP NOT NULL;
