-- The statements of server/store/proofs/statement-hours.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- statement-hours.deleteOldStatementHours: planned each time
prepare "statement-hours.deleteOldStatementHours" (timestamp with time zone) as
  delete from statement_hours where hour < $1;
--   for values given: full, never analyzed
--     Delete statement_hours
--       Bitmap Heap Scan statement_hours
--         Bitmap Index Scan statement_hours by statement_hours_by_age (hour)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete statement_hours
--       Index Scan statement_hours by statement_hours_by_age (hour)

-- statement-hours.keepHours: kept as keep-statement-hours
prepare "statement-hours.keepHours" (integer, uuid, double precision[], integer[], integer[], integer[], integer[], integer[], bytea[], bigint[], bytea[]) as
  insert into statement_hours as s (client_key, endpoint_id, hour, reopened, delivered,
    superseded, exhausted, cancelled, ids_digest, place, authentication)
  select $1, $2, to_timestamp(ms / 1000), reopened, delivered, superseded, exhausted,
  cancelled, ids_digest, place, authentication
  from unnest($3::float8[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[],
    $9::bytea[], $10::bigint[], $11::bytea[])
  as g (ms, reopened, delivered, superseded, exhausted, cancelled, ids_digest, place,
    authentication)
  on conflict (client_key, endpoint_id, hour) do update set
  delivered = excluded.delivered, superseded = excluded.superseded,
  exhausted = excluded.exhausted, cancelled = excluded.cancelled,
  ids_digest = excluded.ids_digest, place = excluded.place,
  authentication = excluded.authentication
  where s.reopened = excluded.reopened;
--   always
--     Insert statement_hours
--       Function Scan

-- statement-hours.readStoredHours: kept as read-statement-hours
prepare "statement-hours.readStoredHours" (integer, uuid, timestamp with time zone, timestamp with time zone) as
  select hour, reopened, delivered, superseded, exhausted, cancelled, ids_digest,
  place::text, authentication
  from statement_hours
  where client_key = $1 and endpoint_id = $2 and hour >= $3 and hour < $4;
--   for any values: empty, never analyzed; full, never analyzed
--   for values given: full, never analyzed
--     Index Scan statement_hours by statement_hours_pkey (client_key, endpoint_id, hour)
--   for any values: empty, analyzed; empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Index Scan statement_hours by statement_hours_by_age (hour) filter (client_key, endpoint_id)
