-- The statements of server/store/history/stats.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- stats.deleteOldSteps: planned each time
prepare "stats.deleteOldSteps" (timestamp with time zone) as
  delete from attempt_steps where $1::timestamptz - at > step_seconds * interval '200 seconds';
--   always
--     Delete attempt_steps
--       Seq Scan attempt_steps filter (at, step_seconds)

-- stats.readAttemptSteps: kept as read-attempt-steps
prepare "stats.readAttemptSteps" (integer, timestamp with time zone) as
  select at, attempts, delivered, durations from attempt_steps
  where step_seconds = $1 and at >= $2 order by at;
--   always
--     Index Scan attempt_steps by attempt_steps_pkey (step_seconds, at)

-- stats.readEndedDays: kept as read-ended-days
prepare "stats.readEndedDays" (timestamp with time zone) as
  select day::text as day, state, sum(count)::bigint as count from final_counts
  where day >= ($1::timestamptz at time zone 'UTC')::date
  group by 1, 2 having sum(count) <> 0 order by 1;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed; full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on ((day)::text)
--       Aggregate
--         Seq Scan final_counts filter (day)
--   for any values: empty, analyzed; full, analyzed when empty
--   for values given: full, analyzed when empty
--     Aggregate
--       Sort on ((day)::text), state
--         Seq Scan final_counts filter (day)

-- stats.readFinalCounts: kept as read-final-counts
prepare "stats.readFinalCounts" as
  select state, sum(count)::bigint as count from final_counts group by state;
--   always
--     Aggregate
--       Seq Scan final_counts

-- stats.readOwedPicture: kept as read-owed-picture, with enable_seqscan = on
prepare "stats.readOwedPicture" (timestamp with time zone[], timestamp with time zone) as
  with down as materialized (
    select h.client_key, h.endpoint_id from endpoint_health h
    where h.circuit <> 'CLOSED'
    and h.next_probe_at > $2::timestamptz - interval '60000 ms')
  select width_bucket(due_at, $1::timestamptz[]) as place, count(*)::int as count,
  min(due_at) as oldest
  from (
    select case when p.next_attempt_at > $2 or not (p.client_key, p.endpoint_id) in (select client_key, endpoint_id from down)
    then p.next_attempt_at end as due_at
    from pending_deliveries p) as owed
  group by 1;
--   for any values: empty, never analyzed; empty, analyzed; full, never analyzed
--   for values given: full, never analyzed
--     Aggregate
--       CTE down: Seq Scan endpoint_health filter (circuit, next_probe_at)
--       Seq Scan pending_deliveries
--         SubPlan 3: CTE Scan down
--       SubPlan 2: CTE Scan down
--   for any values: empty, analyzed when full; full, analyzed
--   for values given: full, analyzed
--     Aggregate
--       CTE down: Index Scan endpoint_health by endpoints_with_open_circuit filter (next_probe_at)
--       Seq Scan pending_deliveries
--         SubPlan 3: CTE Scan down
--       SubPlan 2: CTE Scan down
--   for any values: full, analyzed when empty
--     Aggregate
--       CTE down: Seq Scan endpoint_health filter (circuit, next_probe_at)
--       Sort on (width_bucket(CASE WHEN ((p.next_attempt_at > $2) OR (NOT (ANY ((p.client_key = (hashed SubPlan 3).col1) AND (p.endpoint_id = (hashed SubPlan 3).col2))))) THEN p.next_attempt_at ELSE NULL::timestamp with time zone END, $1))
--         Seq Scan pending_deliveries
--           SubPlan 3: CTE Scan down
--       SubPlan 2: CTE Scan down
--   for values given: full, analyzed when empty
--     Aggregate
--       CTE down: Seq Scan endpoint_health filter (circuit, next_probe_at)
--       Sort on (width_bucket(CASE WHEN ((p.next_attempt_at > '2026-03-10 12:00:00+00'::timestamp with time zone) OR (NOT (ANY ((p.client_key = (hashed SubPlan 3).col1) AND (p.endpoint_id = (hashed SubPlan 3).col2))))) THEN p.next_attempt_at ELSE NULL::timestamp with time zone END, '{"2026-03-10 12:00:00+00","2026-03-10 12:01:00+00"}'::timestamp with time zone[]))
--         Seq Scan pending_deliveries
--           SubPlan 3: CTE Scan down
--       SubPlan 2: CTE Scan down
--   for any values: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       CTE down: Index Scan endpoint_health by endpoints_with_open_circuit filter (next_probe_at)
--       Sort on (width_bucket(CASE WHEN ((p.next_attempt_at > $2) OR (NOT (ANY ((p.client_key = (hashed SubPlan 3).col1) AND (p.endpoint_id = (hashed SubPlan 3).col2))))) THEN p.next_attempt_at ELSE NULL::timestamp with time zone END, $1))
--         Seq Scan pending_deliveries
--           SubPlan 3: CTE Scan down
--       SubPlan 2: CTE Scan down
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       CTE down: Index Scan endpoint_health by endpoints_with_open_circuit filter (next_probe_at)
--       Sort on (width_bucket(CASE WHEN ((p.next_attempt_at > '2026-03-10 12:00:00+00'::timestamp with time zone) OR (NOT (ANY ((p.client_key = (hashed SubPlan 3).col1) AND (p.endpoint_id = (hashed SubPlan 3).col2))))) THEN p.next_attempt_at ELSE NULL::timestamp with time zone END, '{"2026-03-10 12:00:00+00","2026-03-10 12:01:00+00"}'::timestamp with time zone[]))
--         Seq Scan pending_deliveries
--           SubPlan 3: CTE Scan down
--       SubPlan 2: CTE Scan down

-- stats.readProcesses: kept as read-processes
prepare "stats.readProcesses" as
  select p.id, p.host, p.version, p.started_at, p.seen_at,
  (select array_agg(l.shard order by l.shard) from leases l
    where l.owner = p.id) as shards
  from processes p order by p.started_at, p.id limit 1000;
--   always
--     Limit
--       Result
--         Sort on p.started_at, p.id
--           Seq Scan processes
--         SubPlan 1: Aggregate
--           Index Scan leases by leases_pkey filter (owner)

-- stats.saveAttemptSteps: kept as save-attempt-steps
prepare "stats.saveAttemptSteps" (uuid, integer[], timestamp with time zone[], integer[], integer[], text[]) as
  insert into attempt_steps
  (step_seconds, at, process_id, attempts, delivered, durations)
  select step_seconds, at, $1, attempts, delivered, durations::int[]
  from unnest($2::int[], $3::timestamptz[], $4::int[], $5::int[], $6::text[])
  as s (step_seconds, at, attempts, delivered, durations)
  on conflict (step_seconds, at, process_id) do update set
  attempts = excluded.attempts, delivered = excluded.delivered,
  durations = excluded.durations;
--   always
--     Insert attempt_steps
--       Function Scan

-- stats.sumUpFinalCounts: planned each time
prepare "stats.sumUpFinalCounts" as
  with gone as (delete from final_counts returning day, state, count)
  insert into final_counts (day, state, count)
  select day, state, sum(count) from gone group by day, state having sum(count) <> 0;
--   always
--     Insert final_counts
--       CTE gone: Delete final_counts
--         Seq Scan final_counts
--       Subquery Scan
--         Aggregate
--           CTE Scan gone
