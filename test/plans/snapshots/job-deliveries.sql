-- The statements of server/store/history/job-deliveries.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- job-deliveries.addOutcome: planned each time, with enable_seqscan = on
prepare "job-deliveries.addOutcome" (integer[], uuid[]) as
  select count(*)::int as pending,
  (count(*) filter (where p.run_attempts = 0 and e.status = 'ACTIVE'
      and coalesce(h.circuit, 'CLOSED') = 'CLOSED'))::int as moving
  from unnest($1::int[], $2::uuid[]) as k (client_key, id)
  cross join lateral (
    select p.endpoint_id, p.run_attempts from pending_deliveries p
    where p.client_key = k.client_key and p.id = k.id limit 1) as p
  join endpoints e on e.client_key = k.client_key and e.id = p.endpoint_id
  left join endpoint_health h
  on h.client_key = k.client_key and h.endpoint_id = p.endpoint_id;
--   for values given: full, never analyzed; full, analyzed when empty
--     Aggregate
--       Nested Loop left with a join filter
--         Nested Loop with a join filter
--           Hash Join
--             Function Scan
--             Hash
--               Seq Scan endpoints
--           Limit
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--         Index Scan endpoint_health by endpoint_health_pkey (client_key)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       Nested Loop left with a join filter
--         Hash Join
--           Nested Loop
--             Function Scan
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--           Hash
--             Seq Scan endpoints
--         Index Scan endpoint_health by endpoint_health_pkey (client_key)

-- job-deliveries.addOutcome 2: planned each time, with enable_seqscan = on
prepare "job-deliveries.addOutcome 2" (integer[], uuid[]) as
  select f.state, count(*)::int as count
  from unnest($1::int[], $2::uuid[]) as k (client_key, id)
  cross join lateral (
    select f.state from final_deliveries f
    where f.client_key = k.client_key and f.id = k.id
    and f.finished_at >= timestamptz '2026-03-10T12:00:00.000Z' limit 1) as f
  group by 1;
--   for values given: full, never analyzed
--     Aggregate
--       Nested Loop
--         Function Scan
--         Limit
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--             … 6 alike
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       Nested Loop
--         Function Scan
--         Limit
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--             Seq Scan final_deliveries_<day> filter (finished_at, client_key, id)
--             … 5 alike

-- job-deliveries.countJobEndpoints: planned each time
prepare "job-deliveries.countJobEndpoints" (uuid) as
  select client_key, endpoint_id, count(*)::int as count from job_deliveries
  where job_id = $1 group by 1, 2;
--   always
--     Aggregate
--       Bitmap Heap Scan job_deliveries
--         Bitmap Index Scan job_deliveries by job_deliveries_pkey (job_id)

-- job-deliveries.nameEndpoints: planned each time
prepare "job-deliveries.nameEndpoints" (integer[], uuid[], integer[]) as
  select e.id, e.url, c.id as client_id, c.name as client_name,
  case when e.deleted_at is null then e.status else 'DELETED' end as status, h.circuit,
  k.count
  from unnest($1::int[], $2::uuid[], $3::int[]) with ordinality
  as k (client_key, endpoint_id, count, place)
  join endpoints e on e.client_key = k.client_key and e.id = k.endpoint_id
  join clients c on c.client_key = k.client_key
  left join endpoint_health h
  on h.client_key = k.client_key and h.endpoint_id = k.endpoint_id
  order by k.place;
--   for values given: full, never analyzed
--     Sort on k.place
--       Nested Loop left
--         Nested Loop
--           Merge Join with a join filter
--             Index Scan endpoints by endpoints_by_id
--             Sort on k.endpoint_id
--               Function Scan
--           Index Scan clients by clients_pkey (client_key)
--         Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop left
--       Nested Loop with a join filter
--         Nested Loop
--           Function Scan
--           Index Scan clients by clients_pkey (client_key)
--         Index Scan endpoints by endpoints_pkey (client_key)
--       Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- job-deliveries.readJobDeliveries: planned each time, with enable_seqscan = on
prepare "job-deliveries.readJobDeliveries" (uuid, uuid, bigint) as
  select client_key, delivery_id from job_deliveries
  where job_id = $1 and ($2::uuid is null or delivery_id < $2)
  order by delivery_id desc limit $3;
--   for values given: full, never analyzed; full, analyzed when empty
--     Limit
--       Sort on delivery_id DESC
--         Bitmap Heap Scan job_deliveries
--           Bitmap Index Scan job_deliveries by job_deliveries_pkey (job_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Limit
--       Index Only Scan job_deliveries by job_deliveries_pkey (job_id)
