-- What server/store/owed/deliveries.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- deliveries.readDue: kept as read-due, hot path
prepare "deliveries.readDue" (smallint[], timestamp with time zone[], uuid[], timestamp with time zone, bigint) as
  select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.sequence, d.kind,
  d.shard, d.next_attempt_at, d.attempts, d.run_attempts, d.first_attempt_at, d.first_failed_at,
  d.deadline_at, d.is_replay, d.document_mode
  from unnest($1::smallint[], $2::timestamptz[], $3::uuid[]) as c (shard, after_at, after_id)
  cross join lateral (
    select * from pending_deliveries p
    where p.shard = c.shard and p.next_attempt_at is not null
    and (p.next_attempt_at, p.id) > (c.after_at, c.after_id)
    and p.next_attempt_at <= $4
    order by p.next_attempt_at, p.id limit $5) as d;

-- deliveries.readNewest: kept as read-newest-of-strands, hot path
prepare "deliveries.readNewest" (integer[], uuid[], uuid[], bigint) as
  select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.sequence, d.kind,
  d.shard, d.next_attempt_at, d.attempts, d.run_attempts, d.first_attempt_at, d.first_failed_at,
  d.deadline_at, d.is_replay, d.document_mode
  from unnest((select $1::int[])::int[], $2::uuid[], $3::uuid[])
  as k (client_key, endpoint_id, payment_id)
  cross join lateral (
    select * from pending_deliveries p where p.client_key = k.client_key
    and p.endpoint_id = k.endpoint_id and p.payment_id = k.payment_id and not p.is_replay
    order by p.sequence desc limit $4) as d
  order by d.sequence;

-- deliveries.readOldest: kept as read-strands, hot path
prepare "deliveries.readOldest" (integer[], uuid[], uuid[], bigint) as
  select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.sequence, d.kind,
  d.shard, d.next_attempt_at, d.attempts, d.run_attempts, d.first_attempt_at, d.first_failed_at,
  d.deadline_at, d.is_replay, d.document_mode
  from unnest((select $1::int[])::int[], $2::uuid[], $3::uuid[])
  as k (client_key, endpoint_id, payment_id)
  cross join lateral (
    with oldest as materialized (
      select * from pending_deliveries p where p.client_key = k.client_key
      and p.endpoint_id = k.endpoint_id and p.payment_id = k.payment_id and not p.is_replay order by p.sequence limit $4
    ), page as materialized (
      select count(*) as rows, max(sequence) as last from oldest)
    select * from oldest
    union all
    -- Nearly always a strand fits, and this is not run.
    (select * from pending_deliveries p
      where (select rows from page) = $4 and p.client_key = k.client_key
      and p.endpoint_id = k.endpoint_id and p.payment_id = k.payment_id and not p.is_replay
      and p.sequence > (select last from page) and p.sequence >= (
        select max(a.sequence) from pending_deliveries a
        where a.client_key = k.client_key
        and a.endpoint_id = k.endpoint_id and a.payment_id = k.payment_id and not a.is_replay and (a.attempts > 0 or a.first_attempt_at is not null)
        and a.sequence >= (select last from page))
      order by p.sequence limit $4)) as d
  order by d.sequence;

-- deliveries.releaseDeliveriesOf: kept as release-deliveries-of-endpoint
prepare "deliveries.releaseDeliveriesOf" (integer, uuid, timestamp with time zone, timestamp with time zone) as
  update pending_deliveries p set
  next_attempt_at = case when p.next_attempt_at is not null then $4 end,
  deadline_at = ((deadline_at at time zone 'UTC') + greatest(interval '0', $4 - greatest($3, first_attempt_at))) at time zone 'UTC',
  first_failed_at = ((first_failed_at at time zone 'UTC') + greatest(interval '0', $4 - greatest($3, first_failed_at))) at time zone 'UTC'
  where p.endpoint_id = $2 and p.client_key + 0 = $1 and (deadline_at is not null or p.next_attempt_at > $4);
