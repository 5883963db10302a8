-- The statements of server/store/unattempted.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- unattempted.exhaustDeliveries: kept as exhaust-deliveries, hot path
prepare "unattempted.exhaustDeliveries" (smallint[], bigint[], timestamp with time zone, integer[], uuid[], smallint[], bigint[]) as
  with given as (
    select * from unnest($4::int[], $5::uuid[], $6::smallint[], $7::bigint[])
    as g (client_key, id, shard, epoch)), held as (
    select l.shard, l.epoch from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch)
    join leases l on l.shard = any(array[g.shard]) and l.epoch = g.epoch
    order by l.shard for key share of l), mine as (
    select * from given where case when (shard, epoch) in (select shard, epoch from held) then true end), active as (
    -- A pause stops the 7 days, also one that the caller has not heard of yet.
    select e.client_key, e.id from endpoints e
    where e.status = 'ACTIVE' and (e.client_key, e.id) in (
      select p.client_key, p.endpoint_id from pending_deliveries p
      join mine m on p.client_key = any(array[m.client_key]) and p.id = any(array[m.id]))
    order by e.client_key, e.id for share of e
  ), ended as (
    delete from pending_deliveries p
    using mine m, active a
    where p.client_key = any(array[m.client_key]) and p.id = any(array[m.id]) and p.deadline_at <= $3
    and a.client_key = p.client_key and a.id = p.endpoint_id
    returning p.*)
  insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, attempts, deadline_at, last_outcome, last_status, state, finished_at)
  select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, attempts, deadline_at, last_outcome, last_status, 'EXHAUSTED', $3 from ended;
--   for any values: empty, never analyzed
--     Insert final_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE active: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan mine
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan active
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (deadline_at, client_key)
--           CTE Scan mine
--       CTE Scan ended
--   for any values: empty, analyzed
--     Insert final_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE active: LockRows
--         Nested Loop semi with a join filter
--           Index Scan endpoints by endpoints_pkey filter (status)
--           Nested Loop with a join filter
--             Index Scan pending_deliveries by deliveries_of_strand
--             CTE Scan mine
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop with a join filter
--             Index Scan pending_deliveries by deliveries_of_strand filter (deadline_at)
--             CTE Scan mine
--           CTE Scan active
--       CTE Scan ended
--   for any values: empty, analyzed when full; full, never analyzed; full, analyzed
--   for values given: full, analyzed
--     Insert final_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE active: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan mine
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan active
--             Bitmap Heap Scan pending_deliveries filter (deadline_at)
--               BitmapAnd pending_deliveries
--                 Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--           CTE Scan mine
--       CTE Scan ended
--   for values given: full, never analyzed
--     Insert final_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE active: LockRows
--         Nested Loop semi
--           Index Scan endpoints by endpoints_pkey filter (status)
--           Nested Loop with a join filter
--             Bitmap Heap Scan pending_deliveries
--               BitmapAnd pending_deliveries
--                 Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             CTE Scan mine
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan active
--             Bitmap Heap Scan pending_deliveries filter (deadline_at)
--               BitmapAnd pending_deliveries
--                 Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--           CTE Scan mine
--       CTE Scan ended
--   for any values: full, analyzed when empty; full, analyzed but for what is owed
--   for values given: full, analyzed when empty; full, analyzed but for what is owed
--     Insert final_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE active: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop with a join filter
--                 Index Scan pending_deliveries by deliveries_of_strand
--                 CTE Scan mine
--             Index Scan endpoints by endpoints_by_id (id) filter (status, client_key)
--       CTE ended: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan active
--             Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (deadline_at, client_key)
--           CTE Scan mine
--       CTE Scan ended

-- unattempted.postponeDeliveries: kept as postpone-deliveries, hot path
prepare "unattempted.postponeDeliveries" (smallint[], bigint[], integer[], uuid[], smallint[], bigint[], timestamp with time zone[]) as
  with given as (
    select * from unnest($3::int[], $4::uuid[], $5::smallint[], $6::bigint[], $7::timestamptz[])
    as g (client_key, id, shard, epoch, next_attempt_at)), held as (
    select l.shard, l.epoch from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch)
    join leases l on l.shard = any(array[g.shard]) and l.epoch = g.epoch
    order by l.shard for key share of l), mine as (
    select * from given where case when (shard, epoch) in (select shard, epoch from held) then true end)
  update pending_deliveries p set next_attempt_at = m.next_attempt_at
  from mine m
  where p.client_key = any(array[m.client_key]) and p.id = any(array[m.id])
  -- Not for the planner, which would take the index of what is due.
  and coalesce(p.next_attempt_at, '-infinity') > '-infinity';
--   always
--     Update pending_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       Nested Loop
--         Function Scan
--           SubPlan 2: CTE Scan held
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (next_attempt_at)

-- unattempted.settleInactive: kept as settle-inactive, hot path
prepare "unattempted.settleInactive" (smallint[], bigint[], timestamp with time zone, integer[], uuid[], smallint[], bigint[]) as
  with given as (
    select * from unnest($4::int[], $5::uuid[], $6::smallint[], $7::bigint[])
    as g (client_key, id, shard, epoch)), held as (
    select l.shard, l.epoch from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch)
    join leases l on l.shard = any(array[g.shard]) and l.epoch = g.epoch
    order by l.shard for key share of l), mine as (
    select * from given where case when (shard, epoch) in (select shard, epoch from held) then true end), inactive as (
    select e.client_key, e.id, e.deleted_at is not null as is_deleted from endpoints e
    where (e.status <> 'ACTIVE' or e.deleted_at is not null) and (e.client_key, e.id) in (
      select p.client_key, p.endpoint_id from pending_deliveries p
      join mine m on p.client_key = any(array[m.client_key]) and p.id = any(array[m.id]))
    order by e.client_key, e.id for share of e
  ), owed as (
    -- Two of these may meet on the same rows: in one order, so that neither waits for ever.
    select p.client_key, p.id from pending_deliveries p
    join mine m on p.client_key = any(array[m.client_key]) and p.id = any(array[m.id])
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
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id, p.sequence, p.kind, p.created_at, p.attempts, p.deadline_at, p.last_outcome, p.last_status
  )
  insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, attempts, deadline_at, last_outcome, last_status, state, finished_at)
  select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, attempts, deadline_at, last_outcome, last_status, 'CANCELLED', $3 from cancelled;
--   for any values: empty, never analyzed
--     Insert final_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan mine
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop
--             CTE Scan mine
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
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE inactive: LockRows
--         Nested Loop semi with a join filter
--           Index Scan endpoints by endpoints_pkey filter (status, deleted_at)
--           Nested Loop with a join filter
--             Index Scan pending_deliveries by deliveries_of_strand
--             CTE Scan mine
--       CTE owed: LockRows
--         Nested Loop with a join filter
--           Index Scan pending_deliveries by pending_deliveries_pkey
--           CTE Scan mine
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
--   for any values: empty, analyzed when full; full, never analyzed; full, analyzed
--     Insert final_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan mine
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop
--             CTE Scan mine
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
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop
--                 CTE Scan mine
--                 Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop
--             CTE Scan mine
--             Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       CTE parked: Update pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan inactive
--             Bitmap Heap Scan pending_deliveries
--               BitmapAnd pending_deliveries
--                 Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--           CTE Scan owed
--       CTE cancelled: Delete pending_deliveries
--         Nested Loop with a join filter
--           Nested Loop
--             CTE Scan inactive
--             Bitmap Heap Scan pending_deliveries
--               BitmapAnd pending_deliveries
--                 Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--           CTE Scan owed
--       CTE Scan cancelled
--   for values given: full, analyzed
--     Insert final_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE inactive: LockRows
--         Nested Loop semi
--           Index Scan endpoints by endpoints_pkey filter (status, deleted_at)
--           Nested Loop with a join filter
--             Bitmap Heap Scan pending_deliveries
--               BitmapAnd pending_deliveries
--                 Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--                 Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key)
--             CTE Scan mine
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop
--             CTE Scan mine
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
--   for any values: full, analyzed when empty; full, analyzed but for what is owed
--     Insert final_deliveries
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop with a join filter
--                 Index Scan pending_deliveries by deliveries_of_strand
--                 CTE Scan mine
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Sort on p_1.client_key, p_1.id
--           Nested Loop
--             CTE Scan mine
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
--       CTE held: LockRows
--         Sort on l.shard
--           Nested Loop
--             Function Scan
--             Index Scan leases by leases_pkey (shard) filter (epoch)
--       CTE mine: Function Scan
--         SubPlan 2: CTE Scan held
--       CTE inactive: LockRows
--         Sort on e.client_key, e.id
--           Nested Loop
--             Aggregate
--               Nested Loop with a join filter
--                 Index Scan pending_deliveries by deliveries_of_strand
--                 CTE Scan mine
--             Index Scan endpoints by endpoints_by_id (id) filter (status, deleted_at, client_key)
--       CTE owed: LockRows
--         Nested Loop with a join filter
--           Index Scan pending_deliveries by pending_deliveries_pkey
--           CTE Scan mine
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
