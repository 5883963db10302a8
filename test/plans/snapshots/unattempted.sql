-- What server/store/owed/unattempted.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- unattempted.beginRuns: kept as begin-runs, hot path
prepare "unattempted.beginRuns" (smallint[], bigint[], timestamp with time zone, timestamp with time zone, integer[], uuid[], smallint[], bigint[]) as
  with given as (
    select * from unnest($5::int[], $6::uuid[], $7::smallint[], $8::bigint[])
    as g (client_key, id, shard, epoch)), held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l), mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held))
  update pending_deliveries p set first_attempt_at = coalesce(p.first_attempt_at, $3),
  deadline_at = coalesce(p.deadline_at, $4)
  from mine m where p.client_key = any(array[m.client_key]) and p.id = m.id returning p.id;

-- unattempted.exhaustDeliveries: kept as exhaust-deliveries, hot path
prepare "unattempted.exhaustDeliveries" (smallint[], bigint[], timestamp with time zone, integer[], uuid[], smallint[], bigint[]) as
  with given as (
    select * from unnest($4::int[], $5::uuid[], $6::smallint[], $7::bigint[])
    as g (client_key, id, shard, epoch)), held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l), mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held)), owed as (
    select p.* from mine m cross join lateral (
      select p.client_key, p.id, p.endpoint_id from pending_deliveries p
      where p.client_key = m.client_key and p.id = m.id limit 1) as p), active as (
    -- A pause stops the 7 days, also one that the caller has not heard of yet.
    select e.* from (
      select distinct client_key, endpoint_id from owed order by client_key, endpoint_id) as lane cross join lateral (
      select e.client_key, e.id from endpoints e
      where e.client_key = lane.client_key and e.id = lane.endpoint_id and e.status = 'ACTIVE'
      for share of e) as e
  ), ended as (
    delete from pending_deliveries p
    using owed o join active a on a.client_key = o.client_key and a.id = o.endpoint_id
    where p.client_key = any(array[o.client_key]) and p.id = o.id and p.deadline_at <= $3 and p.run_attempts > 0
    returning p.*)
  insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, state, finished_at, is_replay)
  select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, 'EXHAUSTED', $3, nullif(is_replay, false) from ended;

-- unattempted.postponeDeliveries: kept as postpone-deliveries, hot path
prepare "unattempted.postponeDeliveries" (smallint[], bigint[], integer[], uuid[], smallint[], bigint[], timestamp with time zone[], timestamp with time zone[]) as
  with given as (
    select * from unnest($3::int[], $4::uuid[], $5::smallint[], $6::bigint[], $7::timestamptz[], $8::timestamptz[])
    as g (client_key, id, shard, epoch, known_at, next_attempt_at)), held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l), mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held))
  update pending_deliveries p set next_attempt_at = m.next_attempt_at
  from mine m
  where p.client_key = any(array[m.client_key]) and p.id = m.id
  -- Not one that was parked, or whose time was moved by a retry that the engine has not heard of yet. With a
  -- coalesce, because the planner would take the index of what is due.
  and date_trunc('milliseconds', coalesce(p.next_attempt_at, '-infinity')) = m.known_at;

-- unattempted.settleInactive: kept as settle-inactive, hot path
prepare "unattempted.settleInactive" (smallint[], bigint[], timestamp with time zone, integer[], uuid[], smallint[], bigint[]) as
  with given as (
    select * from unnest($4::int[], $5::uuid[], $6::smallint[], $7::bigint[])
    as g (client_key, id, shard, epoch)), held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l), mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held)), owed as (
    select p.* from mine m cross join lateral (
      select p.client_key, p.id, p.endpoint_id from pending_deliveries p
      where p.client_key = m.client_key and p.id = m.id limit 1) as p), inactive as (
    select e.* from (
      select distinct client_key, endpoint_id from owed order by client_key, endpoint_id) as lane cross join lateral (
      select e.client_key, e.id, e.deleted_at is not null as is_deleted from endpoints e
      where e.client_key = lane.client_key and e.id = lane.endpoint_id
      and (e.status <> 'ACTIVE' or e.deleted_at is not null)
      for share of e) as e
  ), settled as (
    -- Two of these may meet on the same rows: in one order, so that neither waits for ever. And
    -- after the endpoints, as a resumption and a cancellation lock them.
    select p.*, o.is_deleted from (
      select o.client_key, o.id, i.is_deleted
      from owed o join inactive i on i.client_key = o.client_key and i.id = o.endpoint_id
      order by o.client_key, o.id) as o
    cross join lateral (
      select p.client_key, p.id from pending_deliveries p
      where p.client_key = o.client_key and p.id = o.id for update of p) as p
  ), parked as (
    update pending_deliveries p set next_attempt_at = null
    from settled s where p.client_key = any(array[s.client_key]) and p.id = s.id and not s.is_deleted
  ), cancelled as (
    delete from pending_deliveries p
    using settled s where p.client_key = any(array[s.client_key]) and p.id = s.id and s.is_deleted
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id, p.sequence, p.kind, p.created_at, p.document_mode, p.attempts, p.deadline_at, p.last_outcome, p.last_status
  )
  insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, state, finished_at)
  select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, 'CANCELLED', $3 from cancelled;
