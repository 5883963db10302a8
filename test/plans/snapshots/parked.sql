-- The statements of server/store/owed/parked.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- parked.disableFailing: planned each time
prepare "parked.disableFailing" (smallint[], bigint[], timestamp with time zone, timestamp with time zone) as
  with held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l)
  update endpoints e set status = 'DISABLED', inactive_since = $4, changed_at = $4
  from endpoint_health h, held
  where h.client_key = e.client_key and h.endpoint_id = e.id and held.shard = e.shard
  -- Resumed, or given another key, a moment ago: it gets another 7 days.
  and h.failing_since < $3 and e.changed_at < $3 and e.status = 'ACTIVE' and e.deleted_at is null
  -- Health is written now and then: a success that a killed process did not get to tell of.
  and not exists (select from final_deliveries f
    where f.client_key = e.client_key and f.endpoint_id = e.id
    and f.state = 'DELIVERED' and f.finished_at >= $3
    and f.finished_at >= timestamptz '2026-03-03T12:00:00.000Z')
  returning e.client_key, e.id as endpoint_id, e.shard;
--   for values given: full, never analyzed
--     Update endpoints
--       CTE held: Nested Loop
--         Sort on g.shard
--           Function Scan
--         Subquery Scan
--           LockRows
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Nested Loop anti
--         Nested Loop with a join filter
--           Nested Loop
--             Index Scan endpoints by one_endpoint_per_address filter (deleted_at, changed_at, status)
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--           CTE Scan held
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id) filter (finished_at, state)
--           … 13 alike
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Update endpoints
--       CTE held: Nested Loop
--         Sort on g.shard
--           Function Scan
--         Subquery Scan
--           LockRows
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Nested Loop anti
--         Nested Loop with a join filter
--           Nested Loop
--             Index Scan endpoints by endpoints_by_change (changed_at) filter (deleted_at, status)
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--           CTE Scan held
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id) filter (finished_at, state)
--           … 8 alike
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint filter (finished_at, state, client_key, endpoint_id)
--           … 5 alike
--   for values given: full, analyzed when empty
--     Update endpoints
--       CTE held: Nested Loop
--         Sort on g.shard
--           Function Scan
--         Subquery Scan
--           LockRows
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Nested Loop anti
--         Nested Loop with a join filter
--           Nested Loop
--             Index Scan endpoints by one_endpoint_per_address filter (deleted_at, changed_at, status)
--             Index Scan endpoint_health by endpoint_health_pkey (client_key, endpoint_id) filter (failing_since)
--           CTE Scan held
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id) filter (finished_at, state)
--           … 8 alike
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint filter (finished_at, state, client_key, endpoint_id)
--           … 5 alike

-- parked.exhaustParked: kept as exhaust-parked, hot path
prepare "parked.exhaustParked" (smallint, integer, uuid, bigint, timestamp with time zone, uuid, bigint) as
  with held as (
    select from leases where shard = $1 and epoch = $4 for key share
  ), active as (
    select from endpoints where client_key = $2 and id = $3 and status = 'ACTIVE' for share
  ), page as materialized (
    select p.client_key, p.id, p.deadline_at from pending_deliveries p
    where p.shard = $1 and p.client_key = $2 and p.endpoint_id = $3
    and p.next_attempt_at is null and p.id > $6
    order by p.id limit $7
  ), ended as (
    delete from pending_deliveries p using page g
    where exists (select from held) and exists (select from active)
    and g.deadline_at <= $5 and p.client_key = any(array[g.client_key]) and p.id = g.id and p.deadline_at <= $5
    and p.run_attempts > 0
    returning p.*
  ), filed as (
    insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, state, finished_at, is_replay)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, 'EXHAUSTED', $5, nullif(is_replay, false) from ended where (select count(*) from feed_origin) >= 0)
  select (select count(*)::int from ended) as exhausted, count(*)::int as looked,
  (select id from page order by id desc limit 1) as last_id
  from page;
--   always
--     Aggregate
--       CTE held: LockRows
--         Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE active: LockRows
--         Index Scan endpoints by endpoints_by_id (id) filter (client_key, status)
--       CTE page: Limit
--         Index Scan pending_deliveries by deliveries_parked (shard, client_key, endpoint_id, id)
--       CTE ended: Delete pending_deliveries
--         InitPlan 4: CTE Scan held
--         InitPlan 5: CTE Scan active
--         Result
--           Nested Loop
--             CTE Scan page
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (deadline_at, run_attempts)
--       CTE filed: Insert final_deliveries
--         InitPlan 7: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan ended
--       InitPlan 9: Aggregate
--         CTE Scan ended
--       InitPlan 10: Limit
--         Sort on page_1.id DESC
--           CTE Scan page
--       CTE Scan page

-- parked.hasFailedSince: kept as has-failed-since
prepare "parked.hasFailedSince" (timestamp with time zone) as
  select exists (select from endpoint_health where failing_since < $1) as has;
--   always
--     Result
--       InitPlan 1: Index Only Scan endpoint_health by endpoints_failing (failing_since)

-- parked.parkDeliveries: kept as park-deliveries, hot path
prepare "parked.parkDeliveries" (smallint[], bigint[], integer[], uuid[], smallint[], bigint[]) as
  with given as (
    select * from unnest($3::int[], $4::uuid[], $5::smallint[], $6::bigint[])
    as g (client_key, id, shard, epoch)), held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l), mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held))
  update pending_deliveries p set next_attempt_at = null from mine m where p.client_key = any(array[m.client_key]) and p.id = m.id;
--   always
--     Update pending_deliveries
--       CTE held: Nested Loop
--         Sort on g_1.shard
--           Function Scan
--         Subquery Scan
--           LockRows
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Nested Loop
--         Hash Join semi
--           Function Scan
--           Hash
--             CTE Scan held
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)

-- parked.readParked: kept as read-parked, hot path
prepare "parked.readParked" (smallint, integer, uuid, uuid, bigint) as
  select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.sequence, d.kind,
  d.shard, d.next_attempt_at, d.attempts, d.run_attempts, d.first_attempt_at, d.first_failed_at,
  d.deadline_at, d.is_replay, d.document_mode from pending_deliveries d
  where d.shard = $1 and d.client_key = $2 and d.endpoint_id = $3
  and d.next_attempt_at is null and d.id > $4
  order by d.id limit $5;
--   always
--     Limit
--       Index Scan pending_deliveries by deliveries_parked (shard, client_key, endpoint_id, id)

-- parked.readParkedLanes: kept as read-parked-lanes, hot path
prepare "parked.readParkedLanes" (smallint[]) as
  select s.shard, l.client_key, l.endpoint_id
  from unnest((select $1::smallint[])::smallint[]) as s (shard) cross join lateral (
    with recursive lane as (
      (select p.client_key, p.endpoint_id from pending_deliveries p
        where p.shard = s.shard and p.next_attempt_at is null
        order by p.client_key, p.endpoint_id limit 1)
      union all
      select n.client_key, n.endpoint_id from lane cross join lateral (
        select p.client_key, p.endpoint_id from pending_deliveries p
        where p.shard = s.shard and p.next_attempt_at is null
        and (p.client_key, p.endpoint_id) > (lane.client_key, lane.endpoint_id)
        order by p.client_key, p.endpoint_id limit 1) as n)
    select * from lane) as l
  cross join lateral (
    -- One look for each lane: as a plain join, all endpoints may be read first.
    select from endpoints e
    where e.client_key = l.client_key and e.id = l.endpoint_id
    and e.status = 'ACTIVE' and e.deleted_at is null limit 1) as active;
--   for any values: empty, never analyzed
--     Nested Loop
--       InitPlan 1: Result
--       Nested Loop
--         Function Scan unnest
--         CTE Scan lane
--           CTE lane: Recursive Union
--             Limit
--               Index Only Scan pending_deliveries by deliveries_parked (shard)
--             Nested Loop
--               WorkTable Scan lane
--               Limit
--                 Index Only Scan pending_deliveries by deliveries_parked (shard, client_key, endpoint_id)
--       Memoize
--         Limit
--           Index Scan endpoints by one_endpoint_per_address (client_key) filter (id, status)
--   for any values: empty, analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop
--       InitPlan 1: Result
--       Nested Loop
--         Function Scan unnest
--         CTE Scan lane
--           CTE lane: Recursive Union
--             Limit
--               Index Only Scan pending_deliveries by deliveries_parked (shard)
--             Nested Loop
--               WorkTable Scan lane
--               Limit
--                 Index Only Scan pending_deliveries by deliveries_parked (shard, client_key, endpoint_id)
--       Memoize
--         Limit
--           Index Scan endpoints by endpoints_by_id (id) filter (deleted_at, client_key, status)
