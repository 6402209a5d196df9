--
-- PostgreSQL database dump
--

\restrict fQYZTVXY7bG4csnTxJM1ta8SzDOIIMrJMbZznwvK5hSYPkZc4cFHax2kxxa5IYo

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
   FROM public.race_latest_releases
  WHERE (race_latest_releases.name <> 'days'::text);


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
visits	basic	4	0.000001	\N	3	0.0000002	0.54029364099398078	(7711251166878063950,16873,1,17208)
staff	zcdp	3	0.000001	0.18506984065264082	0.75	0.0000001	0.036675281255779934	(7711251166878063950,16873,1,17208)
\.


--
-- Data for Name: race_budget_tables; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.race_budget_tables (table_name, relation, owner, budget, identity) FROM stdin;
public.visits	17346	postgres	visits	(7711251166878063950,16873,1,17208)
public.staff	17355	postgres	staff	(7711251166878063950,16873,1,17208)
\.


--
-- Data for Name: race_charges; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.race_charges (charge, budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity) FROM stdin;
e7b6ae65-3479-44f3-91a5-85c27b396c69	visits	visits	protect	{"relation": "public.visits", "neighbors": "add_remove", "accounting": "basic", "delta_limit": 0.000001, "unit_column": "id", "epsilon_limit": 4, "public_tables": [], "max_contributions": 2}	0	0	0	postgres	2026-11-23 06:33:57.377821+00	(7711251166878063950,16873,1,17208)
4e8d55fc-4054-4b1a-bd71-481ec7949df7	visits	seen	protect	{"relation": "public.seen", "neighbors": "add_remove", "accounting": "basic", "delta_limit": 0.000001, "unit_column": null, "epsilon_limit": 4, "public_tables": [], "max_contributions": 1}	0	0	0	postgres	2026-11-23 06:33:57.39912+00	(7711251166878063950,16873,1,17208)
74e95bd2-9afb-4ade-8cca-2d6b35510b32	staff	staff	protect	{"relation": "public.staff", "neighbors": "add_remove", "accounting": "zcdp", "delta_limit": 0.000001, "unit_column": null, "epsilon_limit": 2, "public_tables": [], "max_contributions": 1}	0	0	0	postgres	2026-11-23 06:33:57.412041+00	(7711251166878063950,16873,1,17208)
8cc125ee-2323-4da7-ace1-3f8438167142	visits	visits	release	{"fit": false, "name": "sites", "rows": null, "delta": 0, "label": "(site)::text", "labels": ["0", "1"], "params": "l2(dims=1, bandwidth=1, power=1, rows=16, range=16, seed=0, sequence=sobol, rehash=fold)", "dataset": "visits", "epsilon": 1, "version": 1, "expression": "x"}	1	0	0.5000000000000002	postgres	2026-11-23 06:33:57.420091+00	(7711251166878063950,16873,1,17208)
97807ffa-e235-4334-94e0-f393c704d47a	visits	seen	release	{"fit": false, "name": "people", "rows": null, "delta": 0.0000001, "label": null, "labels": null, "params": "l2(dims=1, bandwidth=1, power=1, rows=16, range=16, seed=0, sequence=sobol, rehash=fold)", "dataset": "seen", "epsilon": 1, "version": 1, "expression": "x"}	1	0.0000001	0.02014682049699029	postgres	2026-11-23 06:33:57.453947+00	(7711251166878063950,16873,1,17208)
453b5b9f-a260-46a2-87cc-b1dba3498cf4	visits	seen	release	{"fit": false, "name": "people", "rows": null, "delta": 0.0000001, "label": null, "labels": null, "params": "l2(dims=1, bandwidth=1, power=1, rows=16, range=16, seed=0, sequence=sobol, rehash=fold)", "dataset": "seen", "epsilon": 1, "version": 2, "expression": "x"}	1	0.0000001	0.02014682049699029	postgres	2026-11-23 06:33:57.465934+00	(7711251166878063950,16873,1,17208)
4ac7be17-7655-4bfa-b732-d09fb8db93c8	staff	staff	release	{"fit": true, "name": "staff", "rows": null, "delta": 0.0000001, "label": null, "labels": null, "params": "l2(dims=1, bandwidth=2, power=1, rows=16, range=16, seed=0, sequence=sobol, rehash=fold, lower={0}, upper={10})", "dataset": "staff", "epsilon": 0.5, "version": 1, "expression": "x"}	0.5	0.0000001	0.00542528125577992	postgres	2026-11-23 06:33:57.477314+00	(7711251166878063950,16873,1,17208)
39a5c1d9-7c52-49fa-93a8-75a8bbecb453	staff	staff	release	{"fit": false, "name": "days", "rows": null, "delta": 0, "label": null, "value": "(days)::double precision", "labels": null, "params": "l2(dims=1, bandwidth=2, power=1, rows=1, range=9, seed=0, sequence=grid, rehash=fold, lower={0}, upper={10}, cells={8})", "dataset": "staff", "epsilon": 0.25, "version": 1, "expression": "x", "value_lower": 0, "value_upper": 7}	0.25	0	0.031250000000000014	postgres	2026-11-23 06:33:57.491289+00	(7711251166878063950,16873,1,17208)
57f95d7b-3487-400d-adb5-6830ab3f9d1d	staff	staff	limit	{"delta_limit": 0.000001, "epsilon_limit": 3, "delta_limit_before": 0.000001, "epsilon_limit_before": 2}	0	0	0	postgres	2026-11-23 06:33:57.504586+00	(7711251166878063950,16873,1,17208)
\.


--
-- Data for Name: race_datasets; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.race_datasets (dataset, relation, relation_name, owner, unit_column, max_contributions, neighbors, public_tables, budget) FROM stdin;
visits	17346	public.visits	postgres	id	2	add_remove	{}	visits
seen	17351	public.seen	postgres	\N	1	add_remove	{}	visits
staff	17355	public.staff	postgres	\N	1	add_remove	{}	staff
\.


--
-- Data for Name: race_releases; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.race_releases (name, version, part, label, sketch, dataset, charge, released_at, value_bound, moments, description, columns, units, scores) FROM stdin;
sites	1	1	0	AQECAQEAAAACAAAAAQAAAEYAAAAAAAAAb18sJkH/7z8AAAAAAAAAAFz/ylCC/t8/4EgtlztxYkALgVIvlQeqQAAAAAAAAAAAAAAAAAAAAAABAQIBAQAAAAEAAAAEAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALvAgYEAQMFAfsHBgsICREKBvof/wH1+gYBFgQKA/sXCtQGAQsI9Pz68f0M/AEAHB36A/oR9AMb/+sNBfPtBYalZyU=	visits	8cc125ee-2323-4da7-ace1-3f8438167142	2026-11-23 06:33:57.420091+00	\N	\N	\N	\N	\N	\N
sites	1	2	1	AQECAQEAAAACAAAAAQAAAAAAAAAAAAAAb18sJkH/7z8AAAAAAAAAAFz/ylCC/t8/6grvSCUiIkALgVIvlQeqQAAAAAAAAAAAAAAAAAAAAAABAQIBAQAAAAEAAAABAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/gEB+/8BA/0B/gEIBggKC8O79tM=	visits	8cc125ee-2323-4da7-ace1-3f8438167142	2026-11-23 06:33:57.420091+00	\N	\N	\N	\N	\N	\N
people	1	1	\N	AQECAgEAAAABAAAAAQAAAGsAAAAAAAAA2JlkZlX37z9Ir7ya8td6Pm+gnDxeoZQ/AAAAAAAgekAAAAAAAAB/QAAAAAAAAAAAAAAAAAAAAAABAQIBAQAAAAEAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIhgbAhIL/Cr30g4zCxsiMg4aLQkm9PcQ7drt/OsKAdITH/n49yPkIgvz+f3qEf8cARb9IwHtLN4GIiH2NgkD8i4hIPv8AO/1DgD64OAs6ORL/unn/+UZBhD88v4TKgXSGw/x8ev2Ff0MFe4QAkf33f8OHEAe/ADz+AwgLR31HAQPDAc12xXvGPQjHfrc9/cfJhkBCwbu9ur77QP5HzIzJ+MFAhD+AAwJJAgAIA74LP4oOffyAuTv+P0ID+0KCBLL/vL5BO/vBAX/5+zuDhz41BIFEQoEGcYLACAK/wHx/wwbCRkh8An5BvTX5gfoHRn5EeHq3S069Rf1Dtz/IC0vBBLj1mY=	seen	97807ffa-e235-4334-94e0-f393c704d47a	2026-11-23 06:33:57.453947+00	\N	\N	\N	\N	\N	\N
people	2	1	\N	AQECAgEAAAABAAAAAQAAAGkAAAAAAAAA2JlkZlX37z9Ir7ya8td6Pm+gnDxeoZQ/AAAAAAAgekAAAAAAAAB/QAAAAAAAAAAAAAAAAAAAAAABAQIBAQAAAAEAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAG+75AxwFI97wF+4OJwoMHxMkCkoH4efI8xblAxgIGgEDKSJDBCIGAA388A7n3vgM7ADrDPRa/An/GNLPFuvt+jIhF//8/g8CKNL0CvoE/+5t0QYAFAkCAxTzFvYCBesh9PP7+vcH5RUEExIdERTxBhP+EfEv6gv+9voAKRYS7gkdA/sx/g8C+wUKBOAFEPf9GO/81/4KCgrYGBIORP772Aj/9gX2+xj9/OAA59cIKi5GRQr7CuoVFC8W7/3pF/L2Ig3m8e3y8PcSC9H+Eg4RCiLRFw//G+j8+QMSJPMg/REI7g73CvH46AT47QkXGAn6Ge0JDgn9CAoW8f0eHB4a8LKJaec=	seen	453b5b9f-a260-46a2-87cc-b1dba3498cf4	2026-11-23 06:33:57.465934+00	\N	\N	\N	\N	\N	\N
staff	1	1	\N	AQECAgEAAAABAAAAAQAAAGsAAAAAAAAAY61mLGr+3z9Ir7ya8td6Ppb2CtnROHY/AAAAAABUmkAAAAAAABCHQAAAAAAAAAAAAAAAAEAEAAABAQIBAQAAAAEAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAEAAAAAYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAkQMoGAdoDEgS3AQ6yG/v3Pm/GKD4HFwkDKK8YzCXY0OS0/WYtZpwY5U7DEylP0CX/ut4O2CLoDQD9YtQTmlv1Jx9U6/XzLALkFNBg6xzcDv25SxUQldje+g75//LWEN60xQHj7Rz79grKJ+eu7zMWMP8Z4SYjCdcdDOUdDdXkBivZIiAqLyoNt9kY2EDfFRo77+jP7wYV/6HoEVxBFrn4LE0YQDsWsQnz7LHnGL5U90EmRfkSSf4vQkbJUOf2DCvycvbmSgnbMNzd4tT9OvU0LFAJQNoj++m6++RDJsyq6u3gLBrtpsLj+NMZHkjL3tYO7rP1KUC07rgo9RSuvw8DJygsAAAAAAAAAAAAAAAAAAAATfjWsLSJ2j99pmkpoYpmQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACwZTCs90P2P7BlMKz3Q/Y/sGUwrPdD9j+wZTCs90P2P0gm+phtpfk/SCb6mG2l+T9IJvqYbaX5P0gm+phtpfk/SCb6mG2l+T9IJvqYbaX5P2pNhri8yTBAak2GuLzJMEBqTYa4vMkwQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAHAd+7qRvGUDc9TjooA0UQNz1OOigDRRA3PU46KANFEDc9TjooA0UQNz1OOigDRRA3PU46KANFEDc9TjooA0UQAAAAAAAAAAAAAAAAAAAAAAFewejYAkyQAV7B6NgCTJAAJDtLEBoeT8AkO0sQGh5PwCQ7SxAaHk/AJDtLEBoeT8AkO0sQGh5PwCQ7SxAaHk/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABQcv1b6VQXQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACS1QKl0j8WQJLVAqXSPxZAktUCpdI/FkCS1QKl0j8WQGzPH7W9SxhAbM8ftb1LGEBszx+1vUsYQABDbqg0ku8/AENuqDSS7z8AQ26oNJLvPwBDbqg0ku8/AENuqDSS7z+4G3FQwh4YQAAAAAAAAAAAINcLiAI9GUAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABYsFa2S0ANQFiwVrZLQA1AAAAAAAAAAAAAAAAAAADAPwAAAAAAAPI/AAAAAAAA9D8AAAAAAAD2PwAAAAAAAPg/AAAAAAAA+j8AAAAAAAD8PwAAAAAAAAFAAAAAAAAAAkAAAAAAAAADQAAAAAAAAARAAAAAAAAABkAAAAAAAAAHQAAAAAAAAAhAAAAAAAAACUAAAAAAAAAKQAAAAAAAAAtAAAAAAAAADkAAAAAAAAAPQAAAAAAAABBAAAAAAAAAEUAAAAAAAIARQAAAAAAAABJAAAAAAACAEkAAAAAAAAATQAAAAAAAgBNAAAAAAAAAFEAAAAAAAIAUQAAAAAAAABVAAAAAAACAFUAAAAAAAAAWQAAAAAAAgBZAAAAAAACAGkAAAAAAAAAbQAAAAAAAACBAAAAAAABAIEAAAAAAAIAgQAAAAAAAwCBAAAAAAAAAIUAAAAAAAEAhQAAAAAAAgCFAAAAAAADAI0AAAAAAAAAkQD84J60=	staff	4ac7be17-7655-4bfa-b732-d09fb8db93c8	2026-11-23 06:33:57.477314+00	\N	\N	\N	\N	\N	\N
days	1	1	\N	AQQCAQEBAAABAAAAAQAAAH0AAAAAAAAAOPNwYv//zz8AAAAAAAAAAHrp4cT+/58/qntbOKR1wkEcKLUu1QfKQAAAAAAAAAAAAAAAAAAAAAABAQQBAQAAAAEAAAABAAAAAwAAAAAAAAAAAAAAAAAAAAAAAAAAAABAGAAAACYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAkQAAAAAAAAABAswECACDvAQCVrwAAd6r1SA==	staff	39a5c1d9-7c52-49fa-93a8-75a8bbecb453	2026-11-23 06:33:57.491289+00	0	\N	\N	\N	\N	\N
days	1	2	\N	AQQCAQECAAABAAAAAQAAAEgAAAAAAAAAOPNwYv//zz8AAAAAAAAAAHrp4cT+/58/qntbOKR1wkEcKLUu1QfKQAAAAAAAAAAAAAAAAAAAAAABAQQBAQAAAAEAAAABAAAAAwAAAAAAAAAAAAAAAAAAAAAAAAAAAABAGAAAACYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAkQAAAAAAAAABA6KMAAO/JAACxQgEAIGrZfg==	staff	39a5c1d9-7c52-49fa-93a8-75a8bbecb453	2026-11-23 06:33:57.491289+00	7	\N	\N	\N	\N	\N
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

\unrestrict fQYZTVXY7bG4csnTxJM1ta8SzDOIIMrJMbZznwvK5hSYPkZc4cFHax2kxxa5IYo

