-- The statements of server/store/history/delivery-lists.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- delivery-lists.isOwedLittle: planned each time, with enable_seqscan = on
prepare "delivery-lists.isOwedLittle" (integer, uuid, bigint) as
  select count(*)::int as count from (
    select from pending_deliveries p where p.endpoint_id = $2 and p.client_key + 0 = $1 limit $3) as owed;
--   for values given: full, never analyzed; full, analyzed
--     Aggregate
--       Limit
--         Bitmap Heap Scan pending_deliveries filter (client_key)
--           Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       Limit
--         Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)

-- delivery-lists.readPart of a client: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a client" (bigint, integer, bigint) as
  with part as materialized (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
    null::timestamptz as finished_at from pending_deliveries d
    where d.client_key = $2 and true order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan endpoints
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Bitmap Heap Scan pending_deliveries
--             Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a client 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a client 2" (integer, bigint, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and true order by d.id desc limit $2)),
  reached as (select (select case when count(*) >= $2 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, finished_at)
--           … 13 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, finished_at)
--           … 8 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest filter (finished_at, client_key)
--           … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, finished_at)
--             … 8 alike
--             Seq Scan final_deliveries_<day> filter (finished_at, client_key)
--             … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a job: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a job" (integer[], uuid[], uuid, bigint) as
  with part as materialized (select d.* from unnest($1::int[], $2::uuid[]) as w (client_key, id)
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = w.client_key and d.id = w.id and true offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and exists (select from job_deliveries j where j.job_id = $3
      and j.delivery_id = d.id and j.client_key = d.client_key)
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     Hash Join
--                       CTE Scan part
--                       Hash
--                         Bitmap Heap Scan job_deliveries
--                           Bitmap Index Scan job_deliveries by job_deliveries_pkey (job_id)
--                     CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Merge Join with a join filter
--                   Index Only Scan job_deliveries by job_deliveries_pkey (job_id)
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     Hash Join
--                       CTE Scan part
--                       Hash
--                         Bitmap Heap Scan job_deliveries
--                           Bitmap Index Scan job_deliveries by job_deliveries_pkey (job_id)
--                     CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a job 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a job 2" (integer[], uuid[], uuid, bigint) as
  with part as materialized (select d.* from unnest($1::int[], $2::uuid[]) as w (client_key, id)
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where d.client_key = w.client_key and d.id = w.id and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and exists (select from job_deliveries j where j.job_id = $3
      and j.delivery_id = d.id and j.client_key = d.client_key)
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 6 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     Hash Join
--                       CTE Scan part
--                       Hash
--                         Bitmap Heap Scan job_deliveries
--                           Bitmap Index Scan job_deliveries by job_deliveries_pkey (job_id)
--                     CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 8 alike
--           Seq Scan final_deliveries_<day> filter (finished_at, client_key, id)
--           … 5 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       Hash Join
--                         CTE Scan part
--                         Hash
--                           Index Only Scan job_deliveries by job_deliveries_pkey (job_id)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           Seq Scan final_deliveries_<day> filter (finished_at, client_key, id)
--           … 5 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     Hash Join
--                       CTE Scan part
--                       Hash
--                         Bitmap Heap Scan job_deliveries
--                           Bitmap Index Scan job_deliveries by job_deliveries_pkey (job_id)
--                     CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a kind: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a kind" (bigint, integer, text, bigint) as
  with part as materialized (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
    null::timestamptz as finished_at from pending_deliveries d
    where d.client_key = $2 and true order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.kind = $3
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Bitmap Heap Scan pending_deliveries
--             Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a kind 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a kind 2" (integer, bigint, text, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and true order by d.id desc limit $2)),
  reached as (select (select case when count(*) >= $2 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.kind = $3
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, finished_at)
--           … 13 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, finished_at)
--           … 8 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest filter (finished_at, client_key)
--           … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, finished_at)
--             … 8 alike
--             Seq Scan final_deliveries_<day> filter (finished_at, client_key)
--             … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a payment: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a payment" (integer[], uuid[], bigint) as
  with part as materialized (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and true offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (event_id)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (event_id)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a payment 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a payment 2" (integer[], uuid[], bigint) as
  with part as materialized (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at) filter (event_id)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, event_id)
--           … 6 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan endpoints
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, id) filter (finished_at, event_id)
--           … 8 alike
--           Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, event_id)
--           … 5 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at) filter (event_id)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, event_id)
--           Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, event_id)
--           … 5 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, id) filter (finished_at, event_id)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, event_id)
--           Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, event_id)
--           … 5 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a payment and an event, with an id: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a payment and an event, with an id" (integer[], uuid[], uuid, uuid[], bigint) as
  with part as materialized (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and true offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.id = $3::uuid and d.payment_id = any($4::uuid[])
    order by d.id desc limit $5)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (event_id)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (event_id)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a payment and an event, with an id 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a payment and an event, with an id 2" (integer[], uuid[], uuid, uuid[], bigint) as
  with part as materialized (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.id = $3::uuid and d.payment_id = any($4::uuid[])
    order by d.id desc limit $5)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at) filter (event_id)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, event_id)
--           … 6 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, id) filter (finished_at, event_id)
--           … 8 alike
--           Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, event_id)
--           … 5 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at) filter (event_id)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, event_id)
--           Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, event_id)
--           … 5 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Function Scan
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, id) filter (finished_at, event_id)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, event_id)
--           Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, event_id)
--           … 5 alike
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a time: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a time" (uuid, uuid, bigint, integer, timestamp with time zone, timestamp with time zone, bigint) as
  with part as materialized (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
    null::timestamptz as finished_at from pending_deliveries d
    where d.client_key = $4 and d.id >= $1::uuid and d.id < $2::uuid order by d.id desc limit $3),
  reached as (select (select case when count(*) >= $3 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.created_at >= $5 and d.created_at < $6
    order by d.id desc limit $7)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Bitmap Heap Scan pending_deliveries
--             Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of a time 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a time 2" (uuid, uuid, integer, bigint, timestamp with time zone, timestamp with time zone, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where d.id >= $1::uuid and d.id < $2::uuid and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $3 and true order by d.id desc limit $4)),
  reached as (select (select case when count(*) >= $4 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.created_at >= $5 and d.created_at < $6
    order by d.id desc limit $7)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at)
--           … 7 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 6 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 5 alike
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at)
--           … 3 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at)
--             … 7 alike
--             Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--             Seq Scan final_deliveries_<day> filter (id, finished_at, client_key)
--             … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 5 alike
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at)
--           … 2 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 6 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of all: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of all" (bigint, bigint) as
  with part as materialized (select d.* from (
      select n.client_key, case when count(*) over () >= $1
      then first_value(n.id) over (order by n.id) end as floor
      from (
        select c.client_key, d.id from clients c cross join lateral (
          select d.id from pending_deliveries d where d.client_key = c.client_key and true
          order by d.id desc limit 1) as d
        where not c.is_internal
        order by d.id desc limit $1) as n) as owner
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = owner.client_key and true
      and d.id >= coalesce(owner.floor, '00000000-0000-0000-0000-000000000000')
      order by d.id desc limit $1) as d
    order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $2)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan endpoints
--               Hash
--                 Limit
--                   Nested Loop with a join filter
--                     CTE Scan part
--                     CTE Scan reached
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Sort on d_1.id DESC
--                               Bitmap Heap Scan pending_deliveries
--                                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan endpoints
--               Hash
--                 Limit
--                   Nested Loop with a join filter
--                     CTE Scan part
--                     CTE Scan reached
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Sort on d_1.id DESC
--                               Bitmap Heap Scan pending_deliveries
--                                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of all 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of all 2" (bigint, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key is distinct from (select client_key from clients where is_internal) and d.finished_at > '-infinity' order by d.id desc limit $1)),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $2)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed; full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         InitPlan 1: Seq Scan clients filter (is_internal)
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_newest filter (finished_at, client_key)
--           … 13 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan endpoints
--               Hash
--                 Limit
--                   Nested Loop with a join filter
--                     CTE Scan part
--                     CTE Scan reached
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         InitPlan 1: Index Scan clients by one_internal_client
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_newest filter (finished_at, client_key)
--           … 13 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of all, next page: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of all, next page" (uuid, bigint, bigint) as
  with part as materialized (select d.* from (
      select n.client_key, case when count(*) over () >= $2
      then first_value(n.id) over (order by n.id) end as floor
      from (
        select c.client_key, d.id from clients c cross join lateral (
          select d.id from pending_deliveries d where d.client_key = c.client_key and d.id < $1::uuid
          order by d.id desc limit 1) as d
        where not c.is_internal
        order by d.id desc limit $2) as n) as owner
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = owner.client_key and d.id < $1::uuid
      and d.id >= coalesce(owner.floor, '00000000-0000-0000-0000-000000000000')
      order by d.id desc limit $2) as d
    order by d.id desc limit $2),
  reached as (select (select case when count(*) >= $2 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan endpoints
--               Hash
--                 Limit
--                   Nested Loop with a join filter
--                     CTE Scan part
--                     CTE Scan reached
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Sort on d_1.id DESC
--                               Bitmap Heap Scan pending_deliveries
--                                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan endpoints
--               Hash
--                 Limit
--                   Nested Loop with a join filter
--                     CTE Scan part
--                     CTE Scan reached
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Sort on d_1.id DESC
--                               Bitmap Heap Scan pending_deliveries
--                                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of all, next page 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of all, next page 2" (uuid, bigint, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where d.id < $1::uuid and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key is distinct from (select client_key from clients where is_internal) and d.finished_at > '-infinity' order by d.id desc limit $2)),
  reached as (select (select case when count(*) >= $2 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed; full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         InitPlan 1: Seq Scan clients filter (is_internal)
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 13 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan endpoints
--               Hash
--                 Limit
--                   Nested Loop with a join filter
--                     CTE Scan part
--                     CTE Scan reached
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         InitPlan 1: Index Scan clients by one_internal_client
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 13 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of an account: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of an account" (bigint, integer, uuid, bigint) as
  with part as materialized (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
    null::timestamptz as finished_at from pending_deliveries d
    where d.client_key = $2 and true order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.account_id = $3
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Bitmap Heap Scan pending_deliveries
--             Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of an account 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of an account 2" (integer, bigint, uuid, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and true order by d.id desc limit $2)),
  reached as (select (select case when count(*) >= $2 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.account_id = $3
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, finished_at)
--           … 13 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, finished_at)
--           … 8 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest filter (finished_at, client_key)
--           … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Hash
--                 Seq Scan clients
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, finished_at)
--             … 8 alike
--             Seq Scan final_deliveries_<day> filter (finished_at, client_key)
--             … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of an endpoint: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of an endpoint" (bigint, integer, uuid, uuid, bigint) as
  with part as materialized (select * from (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = $2 and d.endpoint_id = $3
      offset 0) as d where true order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.endpoint_id = $4
    order by d.id desc limit $5)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Bitmap Heap Scan pending_deliveries
--             BitmapAnd pending_deliveries
--               Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--               Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Bitmap Heap Scan pending_deliveries filter (client_key)
--             Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of an endpoint 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of an endpoint 2" (integer, uuid, bigint, uuid, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and d.endpoint_id = $2 and true order by d.id desc limit $3)),
  reached as (select (select case when count(*) >= $3 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.endpoint_id = $4
    order by d.id desc limit $5)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_1.id DESC
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id) filter (finished_at)
--           … 13 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id) filter (finished_at)
--             Bitmap Heap Scan final_deliveries_<day> filter (finished_at)
--               Bitmap Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id)
--             Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id) filter (finished_at)
--             Bitmap Heap Scan final_deliveries_<day> filter (finished_at)
--               Bitmap Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id)
--             Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id) filter (finished_at)
--             … 4 alike
--             Seq Scan final_deliveries_<day> filter (finished_at, client_key, endpoint_id)
--             … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_1.id DESC
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id) filter (finished_at)
--             … 8 alike
--             Seq Scan final_deliveries_<day> filter (finished_at, client_key, endpoint_id)
--             … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of rare states: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of rare states" (bigint, text[], bigint) as
  with part as materialized (select d.* from ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key is distinct from (select client_key from clients where is_internal) and d.state = 'EXHAUSTED' order by d.id desc limit $1) union all (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key is distinct from (select client_key from clients where is_internal) and d.state = 'CANCELLED' order by d.id desc limit $1)) as d
    order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.state = any($2::text[])
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_2.id DESC
--           Limit
--             InitPlan 1: Seq Scan clients filter (is_internal)
--             Sort on d_2.id DESC
--               Append
--                 Index Scan final_deliveries_<day> by final_deliveries_exhausted (finished_at) filter (client_key)
--                 … 8 alike
--                 Index Scan final_deliveries_<day> by undelivered (state) filter (finished_at, client_key)
--                 … 5 alike
--           Limit
--             InitPlan 2: Seq Scan clients filter (is_internal)
--             Sort on d_16.id DESC
--               Append
--                 Bitmap Heap Scan final_deliveries_<day> filter (finished_at, client_key)
--                   Bitmap Index Scan final_deliveries_<day> by undelivered (state)
--                 … 8 alike
--                 Index Scan final_deliveries_<day> by undelivered (state) filter (finished_at, client_key)
--                 … 5 alike
--       CTE reached: Result
--         InitPlan 5: Aggregate
--           InitPlan 4: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_2.id DESC
--           Limit
--             InitPlan 1: Index Scan clients by one_internal_client
--             Merge Append on d_2.id DESC
--               Index Scan final_deliveries_<day> by undelivered (state) filter (finished_at, client_key)
--               … 13 alike
--           Limit
--             InitPlan 2: Index Scan clients by one_internal_client
--             Merge Append on d_16.id DESC
--               Index Scan final_deliveries_<day> by undelivered (state) filter (finished_at, client_key)
--               … 13 alike
--       CTE reached: Result
--         InitPlan 5: Aggregate
--           InitPlan 4: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_2.id DESC
--           Limit
--             InitPlan 1: Seq Scan clients filter (is_internal)
--             Sort on d_2.id DESC
--               Append
--                 Index Scan final_deliveries_<day> by final_deliveries_exhausted (finished_at) filter (client_key)
--                 … 8 alike
--                 Seq Scan final_deliveries_<day> filter (finished_at, client_key, state)
--                 … 5 alike
--           Limit
--             InitPlan 2: Seq Scan clients filter (is_internal)
--             Sort on d_16.id DESC
--               Append
--                 Bitmap Heap Scan final_deliveries_<day> filter (finished_at, client_key)
--                   Bitmap Index Scan final_deliveries_<day> by undelivered (state)
--                 … 8 alike
--                 Seq Scan final_deliveries_<day> filter (finished_at, client_key, state)
--                 … 5 alike
--       CTE reached: Result
--         InitPlan 5: Aggregate
--           InitPlan 4: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of rare states of a client: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of rare states of a client" (integer, bigint, text[], bigint) as
  with part as materialized (select d.* from ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and d.state = 'EXHAUSTED' order by d.id desc limit $2) union all (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and d.state = 'CANCELLED' order by d.id desc limit $2)) as d
    order by d.id desc limit $2),
  reached as (select (select case when count(*) >= $2 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.state = any($3::text[])
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_2.id DESC
--           Limit
--             Merge Append on d_2.id DESC
--               Index Scan final_deliveries_<day> by undelivered_of_client (client_key, state) filter (finished_at)
--               … 13 alike
--           Limit
--             Merge Append on d_16.id DESC
--               Index Scan final_deliveries_<day> by undelivered_of_client (client_key, state) filter (finished_at)
--               … 13 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_2.id DESC
--           Limit
--             Merge Append on d_2.id DESC
--               Index Scan final_deliveries_<day> by undelivered_of_client (client_key, state) filter (finished_at)
--               … 13 alike
--           Limit
--             Merge Append on d_16.id DESC
--               Index Scan final_deliveries_<day> by undelivered_of_client (client_key, state) filter (finished_at)
--               … 13 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Merge Append on d_2.id DESC
--           Limit
--             Sort on d_2.id DESC
--               Append
--                 Index Scan final_deliveries_<day> by undelivered_of_client (client_key, state) filter (finished_at)
--                 … 8 alike
--                 Seq Scan final_deliveries_<day> filter (finished_at, client_key, state)
--                 … 5 alike
--           Limit
--             Sort on d_16.id DESC
--               Append
--                 Index Scan final_deliveries_<day> by undelivered_of_client (client_key, state) filter (finished_at)
--                 … 8 alike
--                 Seq Scan final_deliveries_<day> filter (finished_at, client_key, state)
--                 … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of rare states of an endpoint: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of rare states of an endpoint" (integer, uuid, bigint, uuid, text[], bigint) as
  with part as materialized (select d.* from ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and d.endpoint_id = $2 and d.state = 'EXHAUSTED' order by d.id desc limit $3)) as d
    order by d.id desc limit $3),
  reached as (select (select case when count(*) >= $3 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.endpoint_id = $4 and d.state = any($5::text[])
    order by d.id desc limit $6)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Limit
--           Merge Append on d_1.id DESC
--             Index Scan final_deliveries_<day> by undelivered_of_endpoint (client_key, endpoint_id, state) filter (finished_at)
--             … 13 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Limit
--           Sort on d_1.id DESC
--             Append
--               Index Scan final_deliveries_<day> by undelivered_of_endpoint (client_key, endpoint_id, state) filter (finished_at)
--               … 8 alike
--               Seq Scan final_deliveries_<day> filter (finished_at, client_key, endpoint_id, state)
--               … 5 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart of rare states of an endpoint 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of rare states of an endpoint 2" (integer, uuid, bigint, uuid, text[], bigint) as
  with part as materialized (select d.* from ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
        where true and d.finished_at < timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and d.endpoint_id = $2 and d.state = 'EXHAUSTED' order by d.id desc limit $3)) as d
    order by d.id desc limit $3),
  reached as (select (select case when count(*) >= $3 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.endpoint_id = $4 and d.state = any($5::text[])
    order by d.id desc limit $6)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Limit
--           Merge Append on d_1.id DESC
--             Index Scan final_deliveries_<day> by undelivered_of_endpoint (client_key, endpoint_id, state) filter (finished_at)
--             … 4 alike
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Limit
--           Sort on d_1.id DESC
--             Append
--               Index Scan final_deliveries_<day> by undelivered_of_endpoint (client_key, endpoint_id, state) filter (finished_at)
--               … 3 alike
--               Seq Scan final_deliveries_<day> filter (finished_at, client_key, endpoint_id, state)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart with an id: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart with an id" (uuid, bigint) as
  with part as materialized (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
    null::timestamptz as finished_at from clients c
    join pending_deliveries d on d.client_key = c.client_key and d.id = $1::uuid),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $2)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Index Scan pending_deliveries by pending_deliveries_pkey (id)
--         Index Only Scan clients by clients_pkey (client_key)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan endpoints
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Index Scan pending_deliveries by pending_deliveries_pkey (id)
--         Index Only Scan clients by clients_pkey (client_key)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan part
--                     CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Nested Loop
--         Bitmap Heap Scan pending_deliveries
--           Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (id)
--         Index Only Scan clients by clients_pkey (client_key)
--       CTE reached: Result
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan part
--                     CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart with an id 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart with an id 2" (uuid, bigint, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
      where d.id = $1::uuid and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key is distinct from (select client_key from clients where is_internal) and d.finished_at > '-infinity' order by d.id desc limit $2)),
  reached as (select (select case when count(*) >= $2 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         InitPlan 1: Seq Scan clients filter (is_internal)
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 13 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Sort on d.id DESC
--                   Nested Loop with a join filter
--                     CTE Scan reached
--                     CTE Scan part
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         InitPlan 1: Index Scan clients by one_internal_client
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 8 alike
--           Seq Scan final_deliveries_<day> filter (finished_at, client_key, id)
--           … 5 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         InitPlan 1: Seq Scan clients filter (is_internal)
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           … 8 alike
--           Seq Scan final_deliveries_<day> filter (finished_at, client_key, id)
--           … 5 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Hash Join
--               Seq Scan clients
--               Hash
--                 Limit
--                   Sort on d.id DESC
--                     Nested Loop with a join filter
--                       CTE Scan reached
--                       CTE Scan part
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart with an outcome: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart with an outcome" (bigint, text[], smallint, smallint, text[], bigint) as
  with part as materialized (select d.* from (
      select n.client_key, case when count(*) over () >= $1
      then first_value(n.id) over (order by n.id) end as floor
      from (
        select c.client_key, d.id from clients c cross join lateral (
          select d.id from pending_deliveries d where d.client_key = c.client_key and true
          order by d.id desc limit 1) as d
        where not c.is_internal
        order by d.id desc limit $1) as n) as owner
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = owner.client_key and true
      and d.id >= coalesce(owner.floor, '00000000-0000-0000-0000-000000000000')
      order by d.id desc limit $1) as d
    order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and (d.last_outcome is null or d.last_outcome = any($2::text[]) or (d.last_outcome = 'answered'
        and d.last_status between $3 and $4)) and d.state = any($5::text[])
    order by d.id desc limit $6)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Sort on d_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.id
--                   Subquery Scan
--                     Limit
--                       Sort on d_1.id DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Sort on d_1.id DESC
--                               Bitmap Heap Scan pending_deliveries
--                                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             Limit
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE reached: Result
--         InitPlan 3: Aggregate
--           InitPlan 2: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)

-- delivery-lists.readPart with an outcome 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart with an outcome 2" (bigint, text[], smallint, smallint, text[], bigint) as
  with part as materialized (select d.* from ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key is distinct from (select client_key from clients where is_internal) and d.state = 'EXHAUSTED' order by d.id desc limit $1)) as d
    order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and (d.last_outcome is null or d.last_outcome = any($2::text[]) or (d.last_outcome = 'answered'
        and d.last_status between $3 and $4)) and d.state = any($5::text[])
    order by d.id desc limit $6)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, h.circuit, h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
--   for values given: full, never analyzed
--     Sort on d.id DESC
--       CTE part: Limit
--         Limit
--           InitPlan 1: Seq Scan clients filter (is_internal)
--           Sort on d_1.id DESC
--             Append
--               Index Scan final_deliveries_<day> by final_deliveries_exhausted (finished_at) filter (client_key)
--               … 8 alike
--               Index Scan final_deliveries_<day> by undelivered (state) filter (finished_at, client_key)
--               … 5 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan clients by clients_pkey (client_key)
--             Index Scan endpoints by endpoints_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id DESC
--       CTE part: Limit
--         Limit
--           InitPlan 1: Index Scan clients by one_internal_client
--           Merge Append on d_1.id DESC
--             Index Scan final_deliveries_<day> by undelivered (state) filter (finished_at, client_key)
--             … 13 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
--   for values given: full, analyzed when empty
--     Sort on d.id DESC
--       CTE part: Limit
--         Limit
--           InitPlan 1: Seq Scan clients filter (is_internal)
--           Sort on d_1.id DESC
--             Append
--               Index Scan final_deliveries_<day> by final_deliveries_exhausted (finished_at) filter (client_key)
--               … 8 alike
--               Seq Scan final_deliveries_<day> filter (finished_at, client_key, state)
--               … 5 alike
--       CTE reached: Result
--         InitPlan 4: Aggregate
--           InitPlan 3: Limit
--             Sort on part.id
--               CTE Scan part
--           CTE Scan part
--       Nested Loop left
--         CTE Scan reached
--         Nested Loop left
--           Nested Loop with a join filter
--             Nested Loop
--               Limit
--                 Nested Loop with a join filter
--                   CTE Scan part
--                   CTE Scan reached
--               Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id)
