-- All that the catalog says of the extension, a line a fact, without OIDs: to compare a
-- fresh installation with an upgraded one.
SET search_path = pg_catalog, pg_temp;
CREATE TEMP TABLE member AS
SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE e.extname IN ('racepriv', 'racepriv_release') AND d.deptype = 'e';
-- and what belongs to its tables and views
INSERT INTO member SELECT 'pg_class'::regclass, i.indexrelid FROM pg_index i, member m WHERE m.classid = 'pg_class'::regclass AND m.objid = i.indrelid;
CREATE FUNCTION pg_temp.rights(acl aclitem[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(r, ' ' ORDER BY r COLLATE "C") FROM (SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
		|| '=' || a.privilege_type || CASE WHEN a.is_grantable THEN '*' ELSE '' END || '/' || a.grantor::regrole AS r FROM aclexplode(acl) a) v
$$;
CREATE TEMP TABLE fact (line text);
INSERT INTO fact
SELECT concat_ws(' ', 'object', i.type, i.identity, 'comment', obj_description(m.objid, m.classid::regclass::name),
	'initially', (SELECT string_agg(p.objsubid || ' ' || pg_temp.rights(p.initprivs), ' ' ORDER BY p.objsubid) FROM pg_init_privs p WHERE p.classoid = m.classid AND p.objoid = m.objid
		-- default rights may have none written down
		AND NOT EXISTS (SELECT FROM pg_class c WHERE m.classid = 'pg_class'::regclass AND c.oid = m.objid
			AND pg_temp.rights(p.initprivs) = pg_temp.rights(acldefault('r', c.relowner)))
		AND NOT EXISTS (SELECT FROM pg_proc f WHERE m.classid = 'pg_proc'::regclass AND f.oid = m.objid
			AND pg_temp.rights(p.initprivs) = pg_temp.rights(acldefault('f', f.proowner)))))
FROM member m, pg_identify_object(m.classid, m.objid, 0) i;
INSERT INTO fact
SELECT concat_ws(' ', 'routine', p.oid::regprocedure, 'owner', p.proowner::regrole, 'rights', pg_temp.rights(coalesce(p.proacl, acldefault('f', p.proowner))), p.procost, p.prorows, p.prosupport, p.provolatile, p.proparallel,
	p.proisstrict, p.prosecdef, p.proleakproof, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.probin, p.proconfig, md5(p.prosrc),
	CASE p.prokind WHEN 'a' THEN (SELECT concat_ws(' ', a.aggkind, a.aggnumdirectargs, a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn, a.aggmtransfn, a.aggminvtransfn,
			a.aggmfinalfn, a.aggfinalextra, a.aggmfinalextra, a.aggfinalmodify, a.aggmfinalmodify, a.aggsortop, a.aggtranstype::regtype, a.aggtransspace, a.aggmtranstype::regtype, a.aggmtransspace, a.agginitval, a.aggminitval)
		FROM pg_aggregate a WHERE a.aggfnoid = p.oid) ELSE pg_get_functiondef(p.oid) END)
FROM pg_proc p, member m WHERE m.objid = p.oid AND m.classid = 'pg_proc'::regclass;
INSERT INTO fact
SELECT concat_ws(' ', 'type', t.oid::regtype, 'rights', pg_temp.rights(coalesce(t.typacl, acldefault('T', t.typowner))), t.typlen, t.typbyval, t.typtype, t.typcategory, t.typispreferred, t.typdelim, t.typinput, t.typoutput, t.typreceive, t.typsend,
	t.typmodin, t.typmodout, t.typanalyze, t.typalign, t.typstorage, t.typnotnull, t.typdefault)
FROM pg_type t, member m WHERE m.objid = t.oid AND m.classid = 'pg_type'::regclass;
INSERT INTO fact
SELECT concat_ws(' ', 'operator', o.oid::regoperator, o.oprcode, o.oprcom::regoperator, o.oprnegate::regoperator, o.oprrest, o.oprjoin, o.oprcanmerge, o.oprcanhash, o.oprresult::regtype)
FROM pg_operator o, member m WHERE m.objid = o.oid AND m.classid = 'pg_operator'::regclass;
INSERT INTO fact
SELECT concat_ws(' ', 'class', c.opcname, c.opcdefault, c.opcintype::regtype, (SELECT string_agg(a.amopstrategy || ' ' || a.amopopr::regoperator, ' ' ORDER BY a.amopstrategy) FROM pg_amop a WHERE a.amopfamily = c.opcfamily),
	(SELECT string_agg(a.amprocnum || ' ' || a.amproc::regprocedure, ' ' ORDER BY a.amprocnum) FROM pg_amproc a WHERE a.amprocfamily = c.opcfamily))
FROM pg_opclass c, member m WHERE m.objid = c.oid AND m.classid = 'pg_opclass'::regclass;
INSERT INTO fact
SELECT concat_ws(' ', 'cast', c.castsource::regtype, c.casttarget::regtype, c.castfunc::regprocedure, c.castcontext, c.castmethod)
FROM pg_cast c, member m WHERE m.objid = c.oid AND m.classid = 'pg_cast'::regclass;
-- composite types are members by their types
CREATE TEMP TABLE relation AS
SELECT c.* FROM pg_class c, member m WHERE m.objid = c.oid AND m.classid = 'pg_class'::regclass
UNION ALL SELECT c.* FROM pg_class c JOIN pg_type t ON t.typrelid = c.oid, member m WHERE m.objid = t.oid AND m.classid = 'pg_type'::regclass AND c.relkind = 'c';
INSERT INTO fact
SELECT concat_ws(' ', 'relation', c.oid::regclass, c.relkind, 'owner', c.relowner::regrole, 'rights', pg_temp.rights(coalesce(c.relacl, acldefault('r', c.relowner))), c.relpersistence, c.relrowsecurity, c.reloptions,
	CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) WHEN 'i' THEN pg_get_indexdef(c.oid) END)
FROM relation c;
INSERT INTO fact
SELECT concat_ws(' ', 'column', a.attrelid::regclass, row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum), a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage, a.attcollation::regcollation, a.attidentity, a.attgenerated,
	pg_temp.rights(a.attacl), pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum))
FROM relation c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum;
INSERT INTO fact
SELECT concat_ws(' ', 'constraint', n.conrelid::regclass, n.conname, pg_get_constraintdef(n.oid), n.convalidated) FROM pg_constraint n, relation c WHERE n.conrelid = c.oid;
INSERT INTO fact
SELECT concat_ws(' ', 'trigger', t.tgenabled, pg_get_triggerdef(t.oid)) FROM pg_trigger t, relation c WHERE t.tgrelid = c.oid AND NOT t.tgisinternal;
INSERT INTO fact
SELECT concat_ws(' ', 'dumped', r::regclass, condition) FROM pg_extension, unnest(extconfig, extcondition) u (r, condition) WHERE extname IN ('racepriv', 'racepriv_release');
INSERT INTO fact
SELECT concat_ws(' ', 'extension', extversion, extrelocatable, obj_description(oid, 'pg_extension')) FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release');
SELECT replace(line, E'\n', ' ') FROM fact ORDER BY line COLLATE "C";
