--
-- PostgreSQL database dump
--

\restrict vCmFTK17uMxXXMPRqYvNKhfsOBFO0qmg4dufOdfUrzmzA5h0e8d0ePmzInxCrC3

-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: racepriv; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS racepriv WITH SCHEMA public;


--
-- Name: EXTENSION racepriv; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION racepriv IS 'private RACE sketches: differentially private kernel density, classification and more in SQL';


--
-- Name: means; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.means AS
 SELECT race_latest_releases.name,
    race_latest_releases.version,
    race_latest_releases.label,
    race_latest_releases.count,
    public.race_kde(race_latest_releases.sketch, '{3}'::double precision[]) AS density
   FROM public.race_latest_releases;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: visits; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.visits (
    id integer,
    site integer,
    x integer[],
    days integer
);


--
-- Name: seen; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.seen AS
 SELECT visits.id,
    visits.site,
    visits.x,
    visits.days
   FROM public.visits;


--
-- Name: staff; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.staff (
    id integer,
    site integer,
    x integer[],
    days integer
);


--
-- Data for Name: race_budgets; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.race_budgets (budget, accounting, epsilon_limit, delta_limit, rho_limit, spent_epsilon, spent_delta, spent_rho, identity) FROM stdin;
visits	basic	4	0.000001	\N	3	0.0000002	0.54029364099398078	(7711251166878063950,17377,1,17712)
staff	zcdp	3	0.000001	0.18506984065264082	0.5	0.0000001	0.00542528125577992	(7711251166878063950,17377,1,17712)
\.


--
-- Data for Name: race_budget_tables; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.race_budget_tables (table_name, relation, owner, budget, identity) FROM stdin;
public.visits	17850	postgres	visits	(7711251166878063950,17377,1,17712)
public.staff	17859	postgres	staff	(7711251166878063950,17377,1,17712)
\.


--
-- Data for Name: race_charges; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.race_charges (charge, budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity) FROM stdin;
8cfb8e81-36a6-489c-b3f3-a645a8c9868c	visits	visits	protect	{"relation": "public.visits", "neighbors": "add_remove", "accounting": "basic", "delta_limit": 0.000001, "unit_column": "id", "epsilon_limit": 4, "public_tables": [], "max_contributions": 2}	0	0	0	postgres	2026-11-23 08:49:36.071782+00	(7711251166878063950,17377,1,17712)
73d4e5d2-a703-4a84-9186-e7e3aed2c92d	visits	seen	protect	{"relation": "public.seen", "neighbors": "add_remove", "accounting": "basic", "delta_limit": 0.000001, "unit_column": null, "epsilon_limit": 4, "public_tables": [], "max_contributions": 1}	0	0	0	postgres	2026-11-23 08:49:36.08576+00	(7711251166878063950,17377,1,17712)
6d61d317-ea10-45de-b2a0-b6cc475ccfa8	staff	staff	protect	{"relation": "public.staff", "neighbors": "add_remove", "accounting": "zcdp", "delta_limit": 0.000001, "unit_column": null, "epsilon_limit": 2, "public_tables": [], "max_contributions": 1}	0	0	0	postgres	2026-11-23 08:49:36.092628+00	(7711251166878063950,17377,1,17712)
4c39fe94-4406-40c1-a9ed-395749d65f7d	visits	visits	release	{"fit": false, "name": "sites", "rows": null, "delta": 0, "label": "(site)::text", "labels": ["0", "1"], "params": "l2(dims=1, bandwidth=1, power=1, rows=16, range=16, seed=0, sequence=sobol, rehash=fold)", "dataset": "visits", "epsilon": 1, "version": 1, "expression": "x"}	1	0	0.5000000000000002	postgres	2026-11-23 08:49:36.098715+00	(7711251166878063950,17377,1,17712)
533b1873-687e-42a6-9521-e1c5fdc5cf96	visits	seen	release	{"fit": false, "name": "people", "rows": null, "delta": 0.0000001, "label": null, "labels": null, "params": "l2(dims=1, bandwidth=1, power=1, rows=16, range=16, seed=0, sequence=sobol, rehash=fold)", "dataset": "seen", "epsilon": 1, "version": 1, "expression": "x"}	1	0.0000001	0.02014682049699029	postgres	2026-11-23 08:49:36.115348+00	(7711251166878063950,17377,1,17712)
5425b4af-2fd2-485d-bad7-bd46e6ef731b	visits	seen	release	{"fit": false, "name": "people", "rows": null, "delta": 0.0000001, "label": null, "labels": null, "params": "l2(dims=1, bandwidth=1, power=1, rows=16, range=16, seed=0, sequence=sobol, rehash=fold)", "dataset": "seen", "epsilon": 1, "version": 2, "expression": "x"}	1	0.0000001	0.02014682049699029	postgres	2026-11-23 08:49:36.129488+00	(7711251166878063950,17377,1,17712)
84feb918-c67a-41f2-960f-796fa1819cb1	staff	staff	release	{"fit": true, "name": "staff", "rows": null, "delta": 0.0000001, "label": null, "labels": null, "params": "l2(dims=1, bandwidth=2, power=1, rows=16, range=16, seed=0, sequence=sobol, rehash=fold, lower={0}, upper={10})", "dataset": "staff", "epsilon": 0.5, "version": 1, "expression": "x"}	0.5	0.0000001	0.00542528125577992	postgres	2026-11-23 08:49:36.143075+00	(7711251166878063950,17377,1,17712)
69e55ca9-88d3-40bf-803b-a64072c4f163	staff	staff	limit	{"delta_limit": 0.000001, "epsilon_limit": 3, "delta_limit_before": 0.000001, "epsilon_limit_before": 2}	0	0	0	postgres	2026-11-23 08:49:36.159869+00	(7711251166878063950,17377,1,17712)
\.


--
-- Data for Name: race_datasets; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.race_datasets (dataset, relation, relation_name, owner, unit_column, max_contributions, neighbors, public_tables, budget) FROM stdin;
visits	17850	public.visits	postgres	id	2	add_remove	{}	visits
seen	17855	public.seen	postgres	\N	1	add_remove	{}	visits
staff	17859	public.staff	postgres	\N	1	add_remove	{}	staff
\.


--
-- Data for Name: race_releases; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.race_releases (name, version, part, label, sketch, dataset, charge, released_at, value_bound, moments, description, columns, units, scores) FROM stdin;
sites	1	1	0	AQECAQEAAAACAAAAAQAAACgAAAAAAAAAb18sJkH/7z8AAAAAAAAAAFz/ylCC/t8/4EgtlztxYkALgVIvlQeqQAAAAAAAAAAAAAAAAAAAAAABAQIBAQAAAAEAAAAEAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+/wD9N4S+vkB/uUB4gcEChMKACoFGv79Bwzh/AL1B/sT+BMJAwgT+wL6+Q0b/gnq/wsC/hMQCPcMCfv/DPwE/zFM920=	visits	4c39fe94-4406-40c1-a9ed-395749d65f7d	2026-11-23 08:49:36.098715+00	\N	\N	\N	\N	\N	\N
sites	1	2	1	AQECAQEAAAACAAAAAQAAAPL/////////b18sJkH/7z8AAAAAAAAAAFz/ylCC/t8/6grvSCUiIkALgVIvlQeqQAAAAAAAAAAAAAAAAAAAAAABAQIBAQAAAAEAAAABAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEA/vb9Bf7/Av0KCQoECntLFkE=	visits	4c39fe94-4406-40c1-a9ed-395749d65f7d	2026-11-23 08:49:36.098715+00	\N	\N	\N	\N	\N	\N
people	1	1	\N	AQECAgEAAAABAAAAAQAAAFsAAAAAAAAA2JlkZlX37z9Ir7ya8td6Pm+gnDxeoZQ/AAAAAAAgekAAAAAAAAB/QAAAAAAAAAAAAAAAAAAAAAABAQIBAQAAAAEAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFQcOBNcC3gbyIOMWDTAeLyELOPzrAA3yIf0D5vUX8PcvIg0HDwAb+eL0/RXuDfwcAAn62wsF9vrw9RntKuYRHBc3LBAS6v8X/yL74Ab66fJjAiX2DPvsBhASFOf87eX9ARLx/Qj80fgWChYICPceEQbuBwgGAP0WCxIizgol8QcLBgkU/gEL9fIf0RnkAwn9EQnxCiUB7PcS+OshNxAkKRbs/e0PDe389gkQCAYLACUYKxLj/wb2DRYMEvzlEvEeG+L4CwMH/fsHGvwMLTUXGgnw+QESCQvgKxMb6sciFhMEHe8Q+ggZ9QIF+gf76QMF+Cjl4fn3Bif/EP3zAhsZ6erkFDY=	seen	533b1873-687e-42a6-9521-e1c5fdc5cf96	2026-11-23 08:49:36.115348+00	\N	\N	\N	\N	\N	\N
people	2	1	\N	AQECAgEAAAABAAAAAQAAAHsAAAAAAAAA2JlkZlX37z9Ir7ya8td6Pm+gnDxeoZQ/AAAAAAAgekAAAAAAAAB/QAAAAAAAAAAAAAAAAAAAAAABAQIBAQAAAAEAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAcSEAMPDwEACQIHDxkTFhH7DBz63iMG+gkP0hAECwomDv/5Fjf7/d7r7xPpDw3/+w4aFRUEByML7/sQGNcC7UIk6fYXGfP/B/wHAvLoBB10BQoT4vITGf4ZOPsc6+nwKers7hUZEAkX9h70/g4iAf4S2C4a7P71Cf4N5QPq7c/95Q0i4xcX9w79+/r+9BIaH/z58RcW5dYHBRUQFwciIwQG++7tCfE78wXr8/cEDEYWRf0YBvPyHAwbM/jYHBn7NQL1+sUV6P/36fEP+xQREDAY+/8HCwIEBfz+DwsGNPYoGgMj+gsFKwbpA+4C+PXsKgv3/erjKdH28QICGhkRES3NJqU=	seen	5425b4af-2fd2-485d-bad7-bd46e6ef731b	2026-11-23 08:49:36.129488+00	\N	\N	\N	\N	\N	\N
staff	1	1	\N	AQECAgEAAAABAAAAAQAAAJIAAAAAAAAAY61mLGr+3z9Ir7ya8td6Ppb2CtnROHY/AAAAAABUmkAAAAAAABCHQAAAAAAAAAAAAAAAAKgCAAABAQIBAQAAAAEAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAEAAAAAYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAkQCP5qQbzxB0pKAZMEOcu/1VJ9Br6/Cr2p/4jFt/xcjoOKDLhFjwJL+8LENn1AB0dIzoU6iHV/BsC7+cqHPbX4lQ30trgN5/q1wUA1tELoRUHXfX7OAEq+hQssQcKTe66EE0y4NvN/D0xZRTr8Sc34wXTQTNjCmMFFkQq0vzoN7IWSQMstN1DAREMBuQgqg8s5gvp9TPOiRn45+PdAb5C7txJJDPzEPnl+ro9yzPc+sd73Q46AOz70jQw5w3jAxjdM+kfGy4T9Sfs5vUUACJwNRotNR45GvjX5ggT/fYk1zYPRmAA/sMyKBrODR8ZRPDm+AXFHP4JGwLUCvneAxgsYBIbAAAAAAAAAAAAAAAAAAAA9SkBEeZU2z8Axmlpah1kQAeMMLl7JTZAB4wwuXslNkAHjDC5eyU2QEAIsO1DHydAQAiw7UMfJ0AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA0FXRHSn8PwDQVdEdKfw/ANBV0R0p/D8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACUZr1DMPs/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAzWdoWHv0PwDNZ2hYe/Q/QKxy8yfz7T9QeXoRuisOQAAAAAAAAAAAAAAAAAAAAACS+mfCiRhFQESCpdCJVDNARIKl0IlUM0AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAEWnRrjfYP4ARadGuN9g/Rx2g14xDMkAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADACMWYy0TsP8AIxZjLROw/wAjFmMtE7D/ACMWYy0TsPwAAAAAAAAAAO2OEseM5PUAAFlOyB1/KPwAWU7IHX8o/ABZTsgdfyj8AFlOyB1/KPwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAOru37jyXCpAlQD1qNnGNECVAPWo2cY0QAAAAAAAAAAAAAAAAAAAwD8AAAAAAADQPwAAAAAAAPY/AAAAAAAA+D8AAAAAAAAEQAAAAAAAAAVAAAAAAAAABkAAAAAAAAAOQAAAAAAAAA9AAAAAAAAAEEAAAAAAAAARQAAAAAAAgBFAAAAAAAAAEkAAAAAAAIASQAAAAAAAgBNAAAAAAAAAGEAAAAAAAIAYQAAAAAAAABlAAAAAAACAGUAAAAAAAAAaQAAAAAAAgBpAAAAAAACAG0AAAAAAAIAfQAAAAAAAgCNAAAAAAADAI0AAAAAAAAAkQH8dQ7U=	staff	84feb918-c67a-41f2-960f-796fa1819cb1	2026-11-23 08:49:36.143075+00	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: staff; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.staff (id, site, x, days) FROM stdin;
1	1	{1}	1
2	0	{2}	2
3	1	{3}	3
4	0	{4}	4
5	1	{5}	5
6	0	{6}	6
7	1	{7}	0
8	0	{8}	1
9	1	{9}	2
10	0	{0}	3
11	1	{1}	4
12	0	{2}	5
13	1	{3}	6
14	0	{4}	0
15	1	{5}	1
16	0	{6}	2
17	1	{7}	3
18	0	{8}	4
19	1	{9}	5
20	0	{0}	6
21	1	{1}	0
22	0	{2}	1
23	1	{3}	2
24	0	{4}	3
25	1	{5}	4
26	0	{6}	5
27	1	{7}	6
28	0	{8}	0
29	1	{9}	1
30	0	{0}	2
31	1	{1}	3
32	0	{2}	4
33	1	{3}	5
34	0	{4}	6
35	1	{5}	0
36	0	{6}	1
37	1	{7}	2
38	0	{8}	3
39	1	{9}	4
40	0	{0}	5
41	1	{1}	6
42	0	{2}	0
43	1	{3}	1
44	0	{4}	2
45	1	{5}	3
46	0	{6}	4
47	1	{7}	5
48	0	{8}	6
49	1	{9}	0
50	0	{0}	1
51	1	{1}	2
52	0	{2}	3
53	1	{3}	4
54	0	{4}	5
55	1	{5}	6
56	0	{6}	0
57	1	{7}	1
58	0	{8}	2
59	1	{9}	3
60	0	{0}	4
61	1	{1}	5
62	0	{2}	6
63	1	{3}	0
64	0	{4}	1
65	1	{5}	2
66	0	{6}	3
67	1	{7}	4
68	0	{8}	5
69	1	{9}	6
70	0	{0}	0
71	1	{1}	1
72	0	{2}	2
73	1	{3}	3
74	0	{4}	4
75	1	{5}	5
76	0	{6}	6
77	1	{7}	0
78	0	{8}	1
79	1	{9}	2
80	0	{0}	3
81	1	{1}	4
82	0	{2}	5
83	1	{3}	6
84	0	{4}	0
85	1	{5}	1
86	0	{6}	2
87	1	{7}	3
88	0	{8}	4
89	1	{9}	5
90	0	{0}	6
91	1	{1}	0
92	0	{2}	1
93	1	{3}	2
94	0	{4}	3
95	1	{5}	4
96	0	{6}	5
97	1	{7}	6
98	0	{8}	0
99	1	{9}	1
100	0	{0}	2
\.


--
-- Data for Name: visits; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.visits (id, site, x, days) FROM stdin;
1	1	{1}	1
2	0	{2}	2
3	1	{3}	3
4	0	{4}	4
5	1	{5}	5
6	0	{6}	6
7	1	{7}	0
8	0	{8}	1
9	1	{9}	2
10	0	{0}	3
11	1	{1}	4
12	0	{2}	5
13	1	{3}	6
14	0	{4}	0
15	1	{5}	1
16	0	{6}	2
17	1	{7}	3
18	0	{8}	4
19	1	{9}	5
20	0	{0}	6
21	1	{1}	0
22	0	{2}	1
23	1	{3}	2
24	0	{4}	3
25	1	{5}	4
26	0	{6}	5
27	1	{7}	6
28	0	{8}	0
29	1	{9}	1
30	0	{0}	2
31	1	{1}	3
32	0	{2}	4
33	1	{3}	5
34	0	{4}	6
35	1	{5}	0
36	0	{6}	1
37	1	{7}	2
38	0	{8}	3
39	1	{9}	4
40	0	{0}	5
41	1	{1}	6
42	0	{2}	0
43	1	{3}	1
44	0	{4}	2
45	1	{5}	3
46	0	{6}	4
47	1	{7}	5
48	0	{8}	6
49	1	{9}	0
50	0	{0}	1
51	1	{1}	2
52	0	{2}	3
53	1	{3}	4
54	0	{4}	5
55	1	{5}	6
56	0	{6}	0
57	1	{7}	1
58	0	{8}	2
59	1	{9}	3
60	0	{0}	4
61	1	{1}	5
62	0	{2}	6
63	1	{3}	0
64	0	{4}	1
65	1	{5}	2
66	0	{6}	3
67	1	{7}	4
68	0	{8}	5
69	1	{9}	6
70	0	{0}	0
71	1	{1}	1
72	0	{2}	2
73	1	{3}	3
74	0	{4}	4
75	1	{5}	5
76	0	{6}	6
77	1	{7}	0
78	0	{8}	1
79	1	{9}	2
80	0	{0}	3
81	1	{1}	4
82	0	{2}	5
83	1	{3}	6
84	0	{4}	0
85	1	{5}	1
86	0	{6}	2
87	1	{7}	3
88	0	{8}	4
89	1	{9}	5
90	0	{0}	6
91	1	{1}	0
92	0	{2}	1
93	1	{3}	2
94	0	{4}	3
95	1	{5}	4
96	0	{6}	5
97	1	{7}	6
98	0	{8}	0
99	1	{9}	1
100	0	{0}	2
\.


--
-- PostgreSQL database dump complete
--

\unrestrict vCmFTK17uMxXXMPRqYvNKhfsOBFO0qmg4dufOdfUrzmzA5h0e8d0ePmzInxCrC3

