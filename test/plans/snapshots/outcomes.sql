-- What server/store/owed/outcomes.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- outcomes.recordAny: kept as record-outcomes, hot path
prepare "outcomes.recordAny" (smallint[], bigint[], timestamp with time zone, integer[], uuid[], smallint[], bigint[], uuid[], uuid[], integer[], integer[], integer[], timestamp with time zone[], integer[], text[], smallint[], bytea[], text[], timestamp with time zone[], timestamp with time zone[], timestamp with time zone[], timestamp with time zone[], boolean[]) as
  with given as (
    select * from unnest($4::int[], $5::uuid[], $6::smallint[], $7::bigint[], $8::uuid[], $9::uuid[], $10::int[], $11::int[], $12::int[], $13::timestamptz[], $14::int[], $15::text[], $16::smallint[], $17::bytea[], $18::text[], $19::timestamptz[], $20::timestamptz[], $21::timestamptz[], $22::timestamptz[], $23::boolean[])
    as g (client_key, id, shard, epoch, endpoint_id, payment_id, sequence, attempt, run_attempt, at, duration_ms, outcome, status, excerpt, state, next_attempt_at, first_attempt_at, first_failed_at, deadline_at, supersedes)), held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l), mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held)), kept as (
    update pending_deliveries p set
    attempts = m.attempt, run_attempts = m.run_attempt,
    -- A time after the attempt began was set during it: a retry was asked for, and holds.
    next_attempt_at = case when coalesce(p.next_attempt_at, (select e.retried_at from endpoints e
        where e.client_key = p.client_key and e.id = p.endpoint_id)) - m.at >= interval '1 ms'
    then least(coalesce(p.next_attempt_at, (select e.retried_at from endpoints e
          where e.client_key = p.client_key and e.id = p.endpoint_id)), m.next_attempt_at) else m.next_attempt_at end,
    first_attempt_at = m.first_attempt_at,
    first_failed_at = m.first_failed_at, deadline_at = m.deadline_at,
    last_outcome = m.outcome, last_status = m.status
    from mine m
    where m.state = 'PENDING' and p.client_key = any(array[m.client_key]) and p.id = m.id and p.attempts = m.attempt - 1
    returning p.id
  ), ended as (
    delete from pending_deliveries p using mine m
    where m.state <> 'PENDING' and p.client_key = any(array[m.client_key]) and p.id = m.id and p.attempts = m.attempt - 1
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id, p.sequence, p.kind, p.created_at, p.document_mode, m.attempt as attempts, m.deadline_at,
    m.outcome as last_outcome, m.status as last_status, p.is_replay, m.state,
    case when m.state = 'DELIVERED' then m.at end as attempted_at,
    case when m.state = 'DELIVERED' then m.duration_ms end as duration_ms,
    case when m.state = 'DELIVERED' then m.excerpt end as excerpt
  ), attempted as (
    insert into earlier_attempts
    (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
    select client_key, id, attempt, at, duration_ms, outcome, status, excerpt from mine
    where state <> 'DELIVERED' and (select count(*) from feed_origin) >= 0
    on conflict do nothing
  ), overtaken as (
    delete from pending_deliveries p using mine m
    where m.supersedes
    and p.endpoint_id = any(array[m.endpoint_id]) and p.payment_id = m.payment_id
    and p.client_key + 0 = m.client_key
    and p.sequence < m.sequence and not p.is_replay
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id, p.sequence, p.kind, p.created_at, p.document_mode, p.attempts, p.deadline_at, p.last_outcome, p.last_status, p.is_replay, 'SUPERSEDED' as state, null::timestamptz,
    null::int, null::bytea
  ), filed as (
    insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, state, attempts, deadline_at, finished_at, last_outcome, last_status, attempted_at,
      duration_ms, is_replay, excerpt)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, state, attempts, deadline_at, $3, last_outcome, last_status,
    attempted_at, duration_ms, nullif(is_replay, false), excerpt
    from (select * from ended union all select * from overtaken) as gone
    where (select count(*) from feed_origin) >= 0
  )
  select id from kept union all select id from ended;

-- Alike: with excerpts
-- outcomes.recordDelivered: kept as record-delivered, hot path
prepare "outcomes.recordDelivered" (smallint[], bigint[], timestamp with time zone, integer[], uuid[], smallint[], bigint[], integer[], double precision[], integer[], double precision[]) as
  with given as (
    select * from unnest($4::int[], $5::uuid[], $6::smallint[], $7::bigint[], $8::int[], $9::float8[], $10::int[], $11::float8[])
    as g (client_key, id, shard, epoch, attempt, at_ms, duration_ms, deadline_ms)), held as (
    select l.* from (
      select * from unnest($1::smallint[], $2::bigint[]) as g (shard, epoch) order by shard) as g
    cross join lateral (
      select l.shard, l.epoch from leases l where l.shard = g.shard and l.epoch = g.epoch
      for key share of l) as l), mine as (
    select * from given where (shard, epoch) in (select shard, epoch from held)), ended as (
    delete from pending_deliveries p using mine m
    where p.client_key = any(array[m.client_key]) and p.id = m.id and p.attempts = m.attempt - 1
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id, p.sequence, p.kind, p.created_at, p.document_mode, p.is_replay, m.attempt, m.deadline_ms, m.at_ms, m.duration_ms
  )
  insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, state, attempts, deadline_at, finished_at, last_outcome, last_status, attempted_at,
    duration_ms, is_replay)
  select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, 'DELIVERED', attempt, to_timestamp(deadline_ms / 1000), $3,
  'answered', 200, to_timestamp(at_ms / 1000), duration_ms, nullif(is_replay, false)
  from ended
  returning id;
