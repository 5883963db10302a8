-- The statements of server/store/outcomes.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- outcomes.exhaustDeliveries: kept as exhaust-deliveries, hot path
prepare "outcomes.exhaustDeliveries" (integer[], uuid[], smallint[], bigint[], timestamp with time zone) as
  with given as (
    select * from unnest($1::int[], $2::uuid[], $3::smallint[], $4::bigint[])
    as g (client_key, id, shard, epoch)
  ), held as (
    select l.shard, l.epoch from leases l
    where (l.shard, l.epoch) in (select shard, epoch from given)
    order by l.shard for key share of l), active as (
    -- A pause stops the 7 days, also one that the caller has not heard of yet.
    select e.client_key, e.id from endpoints e
    where e.status = 'ACTIVE' and (e.client_key, e.id) in (
      select p.client_key, p.endpoint_id from pending_deliveries p
      join given g on p.client_key = any(array[g.client_key]) and p.id = any(array[g.id]))
    order by e.client_key, e.id for share of e
  ), ended as (
    delete from pending_deliveries p
    using given g join held using (shard, epoch), active a
    where p.client_key = any(array[g.client_key]) and p.id = any(array[g.id]) and p.deadline_at <= $5
    and a.client_key = p.client_key and a.id = p.endpoint_id
    returning p.*)
  insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
    created_at, attempts, deadline_at, last_outcome, last_status, state, finished_at)
  select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
  created_at, attempts, deadline_at, last_outcome, last_status, 'EXHAUSTED', $5 from ended;
--   for any values: empty, never analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE active: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan given
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             Nested Loop with a join filter
--               CTE Scan held
--               CTE Scan given
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (deadline_at)
--           CTE Scan active
--       CTE Scan ended
--   for any values: empty, analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE active: LockRows
--         Nested Loop semi with a join filter
--           Index Scan endpoints by endpoints_pkey filter (status)
--           Nested Loop with a join filter
--             Index Scan pending_deliveries by deliveries_of_strand
--             CTE Scan given
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop with a join filter
--             Nested Loop with a join filter
--               Index Scan pending_deliveries by deliveries_of_strand filter (deadline_at)
--               CTE Scan given
--             CTE Scan held
--           CTE Scan active
--       CTE Scan ended
--   for any values: full, never analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE active: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Unique
--               Sort on p.client_key, p.endpoint_id
--                 Nested Loop
--                   CTE Scan given
--                   Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             Nested Loop with a join filter
--               CTE Scan held
--               CTE Scan given
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (deadline_at)
--           CTE Scan active
--       CTE Scan ended
--   for values given: full, never analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE active: LockRows
--         Nested Loop semi
--           Index Scan endpoints by endpoints_pkey filter (status)
--           Nested Loop with a join filter
--             Bitmap Heap Scan pending_deliveries
--               BitmapAnd pending_deliveries
--                 Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             CTE Scan given
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop with a join filter
--             Nested Loop
--               CTE Scan active
--               Bitmap Heap Scan pending_deliveries filter (deadline_at)
--                 BitmapAnd pending_deliveries
--                   Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                   Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             CTE Scan given
--           CTE Scan held
--       CTE Scan ended
--   for any values: empty, analyzed when full; full, analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE active: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan given
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             Nested Loop with a join filter
--               CTE Scan given
--               CTE Scan held
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (deadline_at)
--           CTE Scan active
--       CTE Scan ended
--   for values given: full, analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE active: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan given
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop with a join filter
--             Nested Loop
--               CTE Scan active
--               Bitmap Heap Scan pending_deliveries filter (deadline_at)
--                 BitmapAnd pending_deliveries
--                   Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                   Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             CTE Scan given
--           CTE Scan held
--       CTE Scan ended
--   for any values: full, analyzed when empty; full, analyzed but for what is owed
--   for values given: full, analyzed when empty; full, analyzed but for what is owed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE active: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop with a join filter
--                 Index Scan pending_deliveries by deliveries_of_strand
--                 CTE Scan given
--             Index Scan endpoints by endpoints_by_id (id) filter (status, client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop with a join filter
--             Nested Loop
--               CTE Scan active
--               Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (deadline_at, client_key)
--             CTE Scan given
--           CTE Scan held
--       CTE Scan ended

-- outcomes.postponeDeliveries: kept as postpone-deliveries, hot path
prepare "outcomes.postponeDeliveries" (integer[], uuid[], smallint[], bigint[], timestamp with time zone[]) as
  with given as (
    select * from unnest($1::int[], $2::uuid[], $3::smallint[], $4::bigint[], $5::timestamptz[])
    as g (client_key, id, shard, epoch, next_attempt_at)
  ), held as (
    select l.shard, l.epoch from leases l
    where (l.shard, l.epoch) in (select shard, epoch from given)
    order by l.shard for key share of l)
  update pending_deliveries p set next_attempt_at = g.next_attempt_at
  from given g join held using (shard, epoch)
  where p.client_key = any(array[g.client_key]) and p.id = any(array[g.id])
  -- Not for the planner, which would take the index of what is due.
  and coalesce(p.next_attempt_at, '-infinity') > '-infinity';
--   for any values: empty, never analyzed; full, never analyzed
--   for values given: full, analyzed when empty; full, analyzed but for what is owed
--     Update pending_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Nested Loop
--         Nested Loop with a join filter
--           CTE Scan held
--           CTE Scan given
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (next_attempt_at)
--   for any values: empty, analyzed; empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed
--     Update pending_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Nested Loop
--         Nested Loop with a join filter
--           CTE Scan given
--           CTE Scan held
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (next_attempt_at)
--   for values given: full, never analyzed
--     Update pending_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Nested Loop with a join filter
--         CTE Scan held
--         Materialize
--           Nested Loop
--             CTE Scan given
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (next_attempt_at)
--   for values given: full, analyzed
--     Update pending_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Nested Loop with a join filter
--         Nested Loop
--           CTE Scan given
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (next_attempt_at)
--         CTE Scan held

-- outcomes.recordAny: kept as record-outcomes, hot path
prepare "outcomes.recordAny" (integer[], uuid[], smallint[], bigint[], uuid[], uuid[], integer[], integer[], integer[], timestamp with time zone[], integer[], text[], smallint[], bytea[], text[], timestamp with time zone[], timestamp with time zone[], timestamp with time zone[], timestamp with time zone[], boolean[], timestamp with time zone, smallint[], bigint[]) as
  with given as (
    select * from unnest(
      $1::int[], $2::uuid[], $3::smallint[], $4::bigint[], $5::uuid[], $6::uuid[], $7::int[],
      $8::int[], $9::int[], $10::timestamptz[], $11::int[], $12::text[], $13::smallint[],
      $14::bytea[], $15::text[], $16::timestamptz[], $17::timestamptz[], $18::timestamptz[],
      $19::timestamptz[], $20::boolean[])
    as g (client_key, id, shard, epoch, endpoint_id, payment_id, sequence,
      attempt, run_attempt, at, duration_ms, outcome, status,
      excerpt, state, next_attempt_at, first_attempt_at, first_failed_at,
      deadline_at, supersedes)
  ), held as (
    select l.shard, l.epoch from unnest($22::smallint[], $23::bigint[]) as g (shard, epoch)
    join leases l on l.shard = any(array[g.shard]) and l.epoch = g.epoch
    order by l.shard for key share of l), mine as (
    select * from given where case when (shard, epoch) in (select shard, epoch from held) then true end), kept as (
    update pending_deliveries p set
    attempts = m.attempt, run_attempts = m.run_attempt,
    next_attempt_at = m.next_attempt_at, first_attempt_at = m.first_attempt_at,
    first_failed_at = m.first_failed_at, deadline_at = m.deadline_at,
    last_outcome = m.outcome, last_status = m.status
    from mine m
    where m.state = 'PENDING' and p.client_key = any(array[m.client_key]) and p.id = any(array[m.id])
    and p.attempts = m.attempt - 1
    returning p.id
  ), ended as (
    delete from pending_deliveries p using mine m
    where m.state <> 'PENDING' and p.client_key = any(array[m.client_key]) and p.id = any(array[m.id])
    and p.attempts = m.attempt - 1
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id,
    p.sequence, p.kind, p.created_at, m.state, m.attempt as attempts, m.deadline_at,
    m.outcome as last_outcome, m.status as last_status,
    case when m.state = 'DELIVERED' then m.at end as attempted_at,
    case when m.state = 'DELIVERED' then m.duration_ms end as duration_ms,
    case when m.state = 'DELIVERED' then m.excerpt end as excerpt
  ), attempted as (
    insert into earlier_attempts
    (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
    select client_key, id, attempt, at, duration_ms, outcome, status, excerpt from mine
    where state <> 'DELIVERED'
    on conflict do nothing
  ), overtaken as (
    delete from pending_deliveries p using mine m
    where m.supersedes and m.state = 'DELIVERED' and p.client_key + 0 = m.client_key
    and p.endpoint_id = any(array[m.endpoint_id])
    and p.payment_id = any(array[m.payment_id]) and p.sequence < m.sequence and not p.is_replay
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id,
    p.sequence, p.kind, p.created_at, 'SUPERSEDED' as state, p.attempts, p.deadline_at,
    p.last_outcome, p.last_status, null::timestamptz, null::int, null::bytea
  ), filed as (
    insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
      created_at, state, attempts, deadline_at, finished_at, last_outcome, last_status, attempted_at,
      duration_ms, excerpt)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
    created_at, state, attempts, deadline_at, $21, last_outcome, last_status, attempted_at,
    duration_ms, excerpt
    from (select * from ended union all select * from overtaken) as gone
  )
  select id, null::smallint as shard, null::bigint as epoch from (select id from kept union all select id from ended) as changed
  union all
  select null, g.shard, g.epoch
  from unnest($22::smallint[], $23::bigint[]) as g (shard, epoch)
  where (g.shard, g.epoch) not in (select shard, epoch from held);
--   always
--     Append
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE kept: Update pending_deliveries
--         Nested Loop
--           CTE Scan mine
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (attempts)
--       CTE ended: Delete pending_deliveries
--         Nested Loop
--           CTE Scan mine
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (attempts)
--       CTE attempted: Insert earlier_attempts
--         CTE Scan mine
--       CTE overtaken: Delete pending_deliveries
--         Nested Loop
--           CTE Scan mine
--           Index Scan pending_deliveries by deliveries_of_strand (endpoint_id, payment_id, sequence) filter (is_replay, client_key)
--       CTE filed: Insert final_deliveries
--         Result
--           Append
--             CTE Scan ended
--             CTE Scan overtaken
--       CTE Scan kept
--       CTE Scan ended
--       Function Scan
--         SubPlan 9: CTE Scan held

-- outcomes.recordDelivered: kept as record-delivered, hot path
prepare "outcomes.recordDelivered" (integer[], uuid[], smallint[], bigint[], integer[], double precision[], integer[], double precision[], smallint[], bigint[], timestamp with time zone) as
  with given as (
    select * from unnest(
      $1::int[], $2::uuid[], $3::smallint[], $4::bigint[], $5::int[], $6::float8[],
      $7::int[], $8::float8[])
    as g (client_key, id, shard, epoch, attempt, at_ms, duration_ms, deadline_ms)
  ), held as (
    select l.shard, l.epoch from unnest($9::smallint[], $10::bigint[]) as g (shard, epoch)
    join leases l on l.shard = any(array[g.shard]) and l.epoch = g.epoch
    order by l.shard for key share of l), mine as (
    select * from given where case when (shard, epoch) in (select shard, epoch from held) then true end), ended as (
    delete from pending_deliveries p using mine m
    where p.client_key = any(array[m.client_key]) and p.id = any(array[m.id]) and p.attempts = m.attempt - 1
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id,
    p.sequence, p.kind, p.created_at, m.attempt, m.deadline_ms, m.at_ms, m.duration_ms
  ), filed as (
    insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
      created_at, state, attempts, deadline_at, finished_at, last_outcome, last_status, attempted_at,
      duration_ms)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
    created_at, 'DELIVERED', attempt, to_timestamp(deadline_ms / 1000), $11, 'answered', 200,
    to_timestamp(at_ms / 1000), duration_ms
    from ended
  )
  select id, null::smallint as shard, null::bigint as epoch from (select id from ended) as changed
  union all
  select null, g.shard, g.epoch
  from unnest($9::smallint[], $10::bigint[]) as g (shard, epoch)
  where (g.shard, g.epoch) not in (select shard, epoch from held);
--   always
--     Append
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE ended: Delete pending_deliveries
--         Nested Loop
--           Function Scan
--             SubPlan 2: CTE Scan held
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (attempts)
--       CTE filed: Insert final_deliveries
--         CTE Scan ended
--       CTE Scan ended
--       Function Scan
--         SubPlan 5: CTE Scan held

-- outcomes.recordDelivered with excerpts: kept as record-delivered-with-excerpts, hot path
prepare "outcomes.recordDelivered with excerpts" (integer[], uuid[], smallint[], bigint[], integer[], double precision[], integer[], double precision[], smallint[], bigint[], timestamp with time zone, bytea[]) as
  with given as (
    select * from unnest(
      $1::int[], $2::uuid[], $3::smallint[], $4::bigint[], $5::int[], $6::float8[],
      $7::int[], $8::float8[], $12::bytea[])
    as g (client_key, id, shard, epoch, attempt, at_ms, duration_ms, deadline_ms, excerpt)
  ), held as (
    select l.shard, l.epoch from unnest($9::smallint[], $10::bigint[]) as g (shard, epoch)
    join leases l on l.shard = any(array[g.shard]) and l.epoch = g.epoch
    order by l.shard for key share of l), mine as (
    select * from given where case when (shard, epoch) in (select shard, epoch from held) then true end), ended as (
    delete from pending_deliveries p using mine m
    where p.client_key = any(array[m.client_key]) and p.id = any(array[m.id]) and p.attempts = m.attempt - 1
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id,
    p.sequence, p.kind, p.created_at, m.attempt, m.deadline_ms, m.at_ms, m.duration_ms, m.excerpt
  ), filed as (
    insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
      created_at, state, attempts, deadline_at, finished_at, last_outcome, last_status, attempted_at,
      duration_ms, excerpt)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
    created_at, 'DELIVERED', attempt, to_timestamp(deadline_ms / 1000), $11, 'answered', 200,
    to_timestamp(at_ms / 1000), duration_ms, excerpt
    from ended
  )
  select id, null::smallint as shard, null::bigint as epoch from (select id from ended) as changed
  union all
  select null, g.shard, g.epoch
  from unnest($9::smallint[], $10::bigint[]) as g (shard, epoch)
  where (g.shard, g.epoch) not in (select shard, epoch from held);
--   always
--     Append
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE ended: Delete pending_deliveries
--         Nested Loop
--           Function Scan
--             SubPlan 2: CTE Scan held
--           Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (attempts)
--       CTE filed: Insert final_deliveries
--         CTE Scan ended
--       CTE Scan ended
--       Function Scan
--         SubPlan 5: CTE Scan held

-- outcomes.recordVain: planned each time, hot path
prepare "outcomes.recordVain" (integer[], uuid[], smallint[], bigint[], integer[], timestamp with time zone[], integer[], smallint[], bigint[], bytea[]) as
  with given as (
    select * from unnest(
      $1::int[], $2::uuid[], $3::smallint[], $4::bigint[], $5::int[], $6::timestamptz[],
      $7::int[], $10::bytea[])
    as g (client_key, id, shard, epoch, attempt, at, duration_ms, excerpt)
  ), held as (
    select l.shard, l.epoch from unnest($8::smallint[], $9::bigint[]) as g (shard, epoch)
    join leases l on l.shard = any(array[g.shard]) and l.epoch = g.epoch
    order by l.shard for key share of l), mine as (
    select * from given where case when (shard, epoch) in (select shard, epoch from held) then true end)
  insert into earlier_attempts
  (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
  select client_key, id, attempt, at, duration_ms, 'answered', 200, excerpt from mine m
  where (select true from final_deliveries f
    where f.client_key = m.client_key and f.id = m.id and f.state = 'DELIVERED'
    and f.attempts = m.attempt and f.attempted_at = m.at
    and f.finished_at >= timestamptz '2026-03-09T11:59:59.900Z'
    limit 1) is null
  on conflict do nothing;
--   for values given: full, never analyzed; full, analyzed when empty
--     Insert earlier_attempts
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Function Scan
--         SubPlan 2: CTE Scan held
--         SubPlan 3: Limit
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_pkey (client_key, id, finished_at) filter (state, attempts, attempted_at)
--             Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, state, attempts, attempted_at)
--             … 6 alike
--   for values given: full, analyzed; full, analyzed but for what is owed
--     Insert earlier_attempts
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Function Scan
--         SubPlan 2: CTE Scan held
--         SubPlan 3: Limit
--           Append
--             Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, state, attempts, attempted_at)
--             … 7 alike

-- outcomes.settleInactive: kept as settle-inactive, hot path
prepare "outcomes.settleInactive" (integer[], uuid[], smallint[], bigint[], timestamp with time zone) as
  with given as (
    select * from unnest($1::int[], $2::uuid[], $3::smallint[], $4::bigint[])
    as g (client_key, id, shard, epoch)
  ), held as (
    select l.shard, l.epoch from leases l
    where (l.shard, l.epoch) in (select shard, epoch from given)
    order by l.shard for key share of l), inactive as (
    select e.client_key, e.id, e.deleted_at is not null as is_deleted from endpoints e
    where (e.status <> 'ACTIVE' or e.deleted_at is not null) and (e.client_key, e.id) in (
      select p.client_key, p.endpoint_id from pending_deliveries p
      join given g on p.client_key = any(array[g.client_key]) and p.id = any(array[g.id]))
    order by e.client_key, e.id for share of e
  ), owed as (
    -- Two of these may meet on the same rows: in one order, so that neither waits for ever.
    select p.client_key, p.id from pending_deliveries p
    join given g on p.client_key = any(array[g.client_key]) and p.id = any(array[g.id])
    join held h on h.shard = g.shard and h.epoch = g.epoch
    order by p.client_key, p.id for update of p
  ), parked as (
    update pending_deliveries p set next_attempt_at = null
    from owed o, inactive i
    where p.client_key = any(array[o.client_key]) and p.id = any(array[o.id])
    and i.client_key = p.client_key and i.id = p.endpoint_id and not i.is_deleted
  ), cancelled as (
    delete from pending_deliveries p
    using owed o, inactive i
    where p.client_key = any(array[o.client_key]) and p.id = any(array[o.id])
    and i.client_key = p.client_key and i.id = p.endpoint_id and i.is_deleted
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id,
    p.sequence, p.kind, p.created_at, p.attempts, p.deadline_at, p.last_outcome,
    p.last_status
  )
  insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
    created_at, attempts, deadline_at, last_outcome, last_status, state, finished_at)
  select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
  created_at, attempts, deadline_at, last_outcome, last_status, 'CANCELLED', $5 from cancelled;
--   for any values: empty, never analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan given
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop
--             Nested Loop with a join filter
--               CTE Scan held
--               CTE Scan given
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE parked: Update pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan inactive
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--           CTE Scan owed
--       CTE cancelled: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan inactive
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--           CTE Scan owed
--       CTE Scan cancelled
--   for any values: empty, analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE inactive: LockRows
--         Nested Loop semi with a join filter
--           Index Scan endpoints by endpoints_pkey filter (status, deleted_at)
--           Nested Loop with a join filter
--             Index Scan pending_deliveries by deliveries_of_strand
--             CTE Scan given
--       CTE owed: LockRows
--         Nested Loop with a join filter
--           Nested Loop with a join filter
--             Index Scan pending_deliveries by pending_deliveries_pkey
--             CTE Scan given
--           CTE Scan held
--       CTE parked: Update pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop with a join filter
--             Index Scan pending_deliveries by deliveries_of_strand
--             CTE Scan owed
--           CTE Scan inactive
--       CTE cancelled: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop with a join filter
--             Index Scan pending_deliveries by deliveries_of_strand
--             CTE Scan owed
--           CTE Scan inactive
--       CTE Scan cancelled
--   for any values: full, never analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Unique
--               Sort on p.client_key, p.endpoint_id
--                 Nested Loop
--                   CTE Scan given
--                   Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop
--             Nested Loop with a join filter
--               CTE Scan held
--               CTE Scan given
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE parked: Update pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan owed
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--           CTE Scan inactive
--       CTE cancelled: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan owed
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--           CTE Scan inactive
--       CTE Scan cancelled
--   for values given: full, never analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan given
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop with a join filter
--             CTE Scan held
--             Materialize
--               Nested Loop
--                 CTE Scan given
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE parked: Update pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan owed
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--           CTE Scan inactive
--       CTE cancelled: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan owed
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--           CTE Scan inactive
--       CTE Scan cancelled
--   for any values: empty, analyzed when full; full, analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan given
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop
--             Nested Loop with a join filter
--               CTE Scan given
--               CTE Scan held
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE parked: Update pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan owed
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--           CTE Scan inactive
--       CTE cancelled: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan owed
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--           CTE Scan inactive
--       CTE Scan cancelled
--   for values given: full, analyzed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE inactive: LockRows
--         Nested Loop semi
--           Index Scan endpoints by endpoints_pkey filter (status, deleted_at)
--           Nested Loop with a join filter
--             Bitmap Heap Scan pending_deliveries
--               BitmapAnd pending_deliveries
--                 Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             CTE Scan given
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop with a join filter
--             Nested Loop
--               CTE Scan given
--               Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             CTE Scan held
--       CTE parked: Update pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan owed
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--           CTE Scan inactive
--       CTE cancelled: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan owed
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--           CTE Scan inactive
--       CTE Scan cancelled
--   for any values: full, analyzed when empty; full, analyzed but for what is owed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop with a join filter
--                 Index Scan pending_deliveries by deliveries_of_strand
--                 CTE Scan given
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop
--             Nested Loop with a join filter
--               CTE Scan given
--               CTE Scan held
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE parked: Update pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan inactive
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--           CTE Scan owed
--       CTE cancelled: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan inactive
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--           CTE Scan owed
--       CTE Scan cancelled
--   for values given: full, analyzed when empty; full, analyzed but for what is owed
--     Insert final_deliveries
--       CTE given: Function Scan
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Aggregate
--               CTE Scan given
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop with a join filter
--                 Index Scan pending_deliveries by deliveries_of_strand
--                 CTE Scan given
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Nested Loop with a join filter
--           Nested Loop with a join filter
--             Index Scan pending_deliveries by pending_deliveries_pkey
--             CTE Scan given
--           CTE Scan held
--       CTE parked: Update pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan inactive
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--           CTE Scan owed
--       CTE cancelled: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan inactive
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (client_key)
--           CTE Scan owed
--       CTE Scan cancelled
