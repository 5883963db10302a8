-- The statements of server/store/owed/replays.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- replays.findFinalWithin of a client: planned each time
prepare "replays.findFinalWithin of a client" (uuid, uuid, integer) as
  select f.client_key, f.endpoint_id, f.finished_at::text,
  e.deleted_at is not null as is_deleted,
  exists (select from events v
    where v.client_key = f.client_key and v.id = f.event_id
    and v.id >= uuid '019cd778-7b00-0000-0000-000000000000' and v.id < uuid '019cd778-7b01-0000-0000-000000000000' and substr(v.text, 46, 12) <> '"erasedAt":"') as has_payload
  from final_deliveries f
  join endpoints e on e.client_key = f.client_key and e.id = f.endpoint_id
  where f.id = $1 and f.finished_at >= timestamptz '2026-03-09T11:18:43.200Z'
  and ($2::uuid is null or f.account_id = $2)
  and f.client_key = $3;
--   for values given: full, never analyzed
--     Nested Loop with a join filter
--       Index Scan endpoints by endpoints_pkey (client_key)
--       Append
--         Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at)
--         Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--         … 6 alike
--       SubPlan 1: Index Scan events_<day> by events_pkey (client_key, id) filter (text)
--   for values given: full, analyzed; full, analyzed but for what is owed
--     Nested Loop with a join filter
--       Append
--         Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--         … 2 alike
--         Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, id) filter (finished_at)
--         … 5 alike
--       Materialize
--         Index Scan endpoints by endpoints_pkey (client_key)
--       SubPlan 1: Index Scan events_<day> by events_pkey (client_key, id) filter (text)
--   for values given: full, analyzed when empty
--     Nested Loop with a join filter
--       Index Scan endpoints by endpoints_pkey (client_key)
--       Append
--         Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at)
--         Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--         Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, id) filter (finished_at)
--         … 5 alike
--       SubPlan 1: Index Scan events_<day> by events_pkey (client_key, id) filter (text)
--   for values given: full, analyzed, but of today there is nothing
--     Nested Loop with a join filter
--       Append
--         Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--         Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, id) filter (finished_at)
--         … 6 alike
--       Materialize
--         Index Scan endpoints by endpoints_pkey (client_key)
--       SubPlan 1: Index Scan events_<day> by events_pkey (client_key, id) filter (text)

-- replays.findFinalWithin of all: planned each time
prepare "replays.findFinalWithin of all" (uuid, uuid) as
  select f.client_key, f.endpoint_id, f.finished_at::text,
  e.deleted_at is not null as is_deleted,
  exists (select from events v
    where v.client_key = f.client_key and v.id = f.event_id
    and v.id >= uuid '019cd778-7b00-0000-0000-000000000000' and v.id < uuid '019cd778-7b01-0000-0000-000000000000' and substr(v.text, 46, 12) <> '"erasedAt":"') as has_payload
  from final_deliveries f
  join endpoints e on e.client_key = f.client_key and e.id = f.endpoint_id
  where f.id = $1 and f.finished_at >= timestamptz '2026-03-09T11:18:43.200Z'
  and ($2::uuid is null or f.account_id = $2)
  and f.finished_at > '-infinity'
  and not exists (select from clients c where c.client_key = f.client_key and c.is_internal);
--   for values given: full, never analyzed
--     Nested Loop anti
--       Nested Loop
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at)
--           … 7 alike
--         Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--       Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       SubPlan 1: Index Scan events_<day> by events_pkey (client_key, id) filter (text)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop anti
--       Nested Loop
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at)
--           … 2 alike
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (id) filter (finished_at)
--           … 5 alike
--         Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--       Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       SubPlan 1: Index Scan events_<day> by events_pkey (client_key, id) filter (text)
--   for values given: full, analyzed when empty
--     Nested Loop
--       Nested Loop anti
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at)
--           … 2 alike
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (id) filter (finished_at)
--           … 5 alike
--         Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--       SubPlan 1: Index Scan events_<day> by events_pkey (client_key, id) filter (text)

-- replays.lockEndpointsOf: kept as lock-endpoints-of-replays
prepare "replays.lockEndpointsOf" (integer[], uuid[]) as
  select from endpoints e
  where (e.client_key, e.id) in (select * from unnest($1::int[], $2::uuid[]))
  order by e.client_key, e.id for share of e;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     LockRows
--       Sort on e.client_key, e.id
--         Nested Loop
--           Aggregate
--             Function Scan
--           Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--   for any values: empty, analyzed
--     LockRows
--       Sort on e.client_key, e.id
--         Hash Join right semi
--           Function Scan
--           Hash
--             Index Scan endpoints by endpoints_by_id
--   for values given: full, never analyzed; full, analyzed when empty
--     LockRows
--       Merge Join semi
--         Index Scan endpoints by endpoints_pkey
--         Sort on unnest.unnest, unnest.unnest_1
--           Function Scan

-- replays.lockEndpointsOf 2: kept as lock-endpoints-of-missing
prepare "replays.lockEndpointsOf 2" (integer[], uuid[]) as
  select from endpoints e
  where (e.client_key, e.id) in (select * from unnest($1::int[], $2::uuid[]))
  order by e.client_key, e.id for no key update of e;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     LockRows
--       Sort on e.client_key, e.id
--         Nested Loop
--           Aggregate
--             Function Scan
--           Index Scan endpoints by endpoints_by_id (id) filter (client_key)
--   for any values: empty, analyzed
--     LockRows
--       Sort on e.client_key, e.id
--         Hash Join right semi
--           Function Scan
--           Hash
--             Index Scan endpoints by endpoints_by_id
--   for values given: full, never analyzed; full, analyzed when empty
--     LockRows
--       Merge Join semi
--         Index Scan endpoints by endpoints_pkey
--         Sort on unnest.unnest, unnest.unnest_1
--           Function Scan

-- replays.replayDeliveries: planned each time
prepare "replays.replayDeliveries" (integer[], uuid[], timestamp with time zone[], timestamp with time zone) as
  with given as (
    select * from unnest($1::int[], $2::uuid[], $3::timestamptz[])
    as g (client_key, id, finished_at)
  ), moved as materialized (
    -- From each key into the tables, never the other way round, whatever statistics say of a
    -- day that has just begun: so in steps that the planner does not turn about.
    select f.*, e.shard, e.is_active, v.text, v.document_hash, v.document_bytes
    from given g
    cross join lateral (
      select f.* from final_deliveries f
      where f.client_key = g.client_key and f.id = g.id and f.finished_at = g.finished_at
      and f.finished_at >= timestamptz '2026-03-09T20:06:42.320Z' and f.finished_at < timestamptz '2026-03-10T11:18:44.321Z'
      for update of f) as f
    cross join lateral (
      select e.shard, e.status = 'ACTIVE' as is_active from endpoints e
      where e.client_key = f.client_key and e.id = f.endpoint_id and e.deleted_at is null
      limit 1) as e
    cross join lateral (
      select v.text, v.document_hash, v.document_bytes from events v
      where v.client_key = f.client_key and v.id = f.event_id
      and v.id >= uuid '019cd435-8500-0000-0000-000000000000' and v.id < uuid '019cd778-7b01-0000-0000-000000000000' and substr(v.text, 46, 12) <> '"erasedAt":"'
      limit 1) as v
  ), gone as (
    delete from final_deliveries f using moved m
    where f.client_key = any(array[m.client_key]) and f.id = m.id
    and f.finished_at = m.finished_at
    and f.finished_at >= timestamptz '2026-03-09T20:06:42.320Z' and f.finished_at < timestamptz '2026-03-10T11:18:44.321Z'
  ), kept as (
    insert into earlier_attempts
    (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
    select client_key, id, attempts, attempted_at, duration_ms, last_outcome, last_status,
    excerpt
    from moved where state = 'DELIVERED' and (select count(*) from feed_origin) >= 0
    -- It may be noted: as one that ended nothing, by a process that recorded it at the same moment.
    on conflict do nothing
  ), reopened as (
    insert into statement_hours as s (client_key, endpoint_id, hour, reopened)
    select distinct client_key, endpoint_id,
    to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 3600000 * 3600), 1
    from moved where state <> 'DELIVERED' and (select count(*) from feed_origin) >= 0
    order by 1, 2, 3
    on conflict (client_key, endpoint_id, hour) do update set reopened = s.reopened + 1,
    delivered = null, superseded = null, exhausted = null, cancelled = null, ids_digest = null,
    place = null, authentication = null
  ), d as (
    select moved.client_key, moved.id, moved.event_id, moved.endpoint_id, moved.payment_id, moved.account_id, moved.sequence, moved.kind, moved.created_at, moved.document_mode, shard,
    case when is_active then $4::timestamptz end as next_attempt_at,
    -- What an attempt that was under way at the cancellation has brought is noted in the
    -- attempts and nowhere else.
    case when state <> 'CANCELLED' then attempts
    else greatest(attempts, attempts_begun, (select max(a.attempt) from earlier_attempts a
        where a.client_key = moved.client_key and a.delivery_id = moved.id
        and a.at >= timestamptz '2026-03-08T20:06:43.320Z' and a.at < timestamptz '2026-03-11T11:18:43.321Z'))
    end as attempts,
    0 as run_attempts, null::timestamptz as first_attempt_at,
    null::timestamptz as first_failed_at, null::timestamptz as deadline_at,
    true as is_replay, last_outcome, last_status, text, document_hash, document_bytes
    from moved
  ), put as (
    insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, shard, next_attempt_at, attempts,
      is_replay, last_outcome, last_status)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, shard, next_attempt_at, attempts, is_replay, last_outcome,
    last_status
    from d where (select count(*) from feed_origin) >= 0)
  select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.sequence, d.kind,
  d.shard, d.next_attempt_at, d.attempts, d.run_attempts, d.first_attempt_at, d.first_failed_at,
  d.deadline_at, d.is_replay, d.document_mode, d.text, d.document_hash, d.document_bytes from d
  order by d.id;
--   for values given: full, never analyzed; full, analyzed when empty
--     Sort on d.id
--       CTE moved: Nested Loop
--         Nested Loop
--           Nested Loop
--             Function Scan
--             Subquery Scan
--               LockRows
--                 Append
--                   Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at)
--                   Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--           Memoize
--             Limit
--               Index Scan endpoints by endpoints_by_id (id) filter (deleted_at, client_key)
--         Memoize
--           Limit
--             Append
--               Index Scan events_<day> by events_pkey (client_key, id) filter (text)
--               … 2 alike
--       CTE gone: Delete final_deliveries
--         Hash Join with a join filter
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_pkey (finished_at)
--             … 2 alike
--           Hash
--             CTE Scan moved
--       CTE kept: Insert earlier_attempts
--         InitPlan 3: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan moved
--       CTE reopened: Insert statement_hours
--         Subquery Scan
--           Unique
--             InitPlan 5: Aggregate
--               Index Only Scan feed_origin by feed_origin_pkey
--             Sort on moved_1.client_key, moved_1.endpoint_id, (to_timestamp((((((('x'::text || translate("left"((moved_1.id)::text, 13), '-'::text, ''::text)))::bit(48))::bigint / 3600000) * 3600))::double precision))
--               Result
--                 CTE Scan moved
--       CTE d: CTE Scan moved
--         SubPlan 8: Result
--           InitPlan 7: Limit
--             Merge Append on a.attempt DESC
--               Index Only Scan earlier_attempts_<day> by earlier_attempts_pkey (client_key, delivery_id, at)
--               … 4 alike
--       CTE put: Insert pending_deliveries
--         InitPlan 10: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan d
--       CTE Scan d
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on d.id
--       CTE moved: Nested Loop
--         Nested Loop
--           Nested Loop
--             Function Scan
--             Subquery Scan
--               LockRows
--                 Append
--                   Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key)
--                   … 2 alike
--           Memoize
--             Limit
--               Index Scan endpoints by endpoints_by_id (id) filter (deleted_at, client_key)
--         Memoize
--           Limit
--             Append
--               Index Scan events_<day> by events_pkey (client_key, id) filter (text)
--               … 2 alike
--       CTE gone: Delete final_deliveries
--         Nested Loop
--           CTE Scan moved
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (client_key, finished_at)
--             … 2 alike
--       CTE kept: Insert earlier_attempts
--         InitPlan 3: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan moved
--       CTE reopened: Insert statement_hours
--         Subquery Scan
--           Unique
--             InitPlan 5: Aggregate
--               Index Only Scan feed_origin by feed_origin_pkey
--             Sort on moved_1.client_key, moved_1.endpoint_id, (to_timestamp((((((('x'::text || translate("left"((moved_1.id)::text, 13), '-'::text, ''::text)))::bit(48))::bigint / 3600000) * 3600))::double precision))
--               Result
--                 CTE Scan moved
--       CTE d: CTE Scan moved
--         SubPlan 8: Result
--           InitPlan 7: Limit
--             Merge Append on a.attempt DESC
--               Index Only Scan earlier_attempts_<day> by earlier_attempts_pkey (client_key, delivery_id, at)
--               … 4 alike
--       CTE put: Insert pending_deliveries
--         InitPlan 10: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan d
--       CTE Scan d
