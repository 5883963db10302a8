-- What server/store/history/payment-deliveries.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- payment-deliveries.countDeliveries: planned each time, with enable_seqscan = on
prepare "payment-deliveries.countDeliveries" (integer[], uuid[]) as
  select d.payment_id, d.state, count(*)::int as count from (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at, d.is_replay,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and true offset 0) as d) as d group by 1, 2;

-- payment-deliveries.countDeliveries 2: planned each time, with enable_seqscan = on
prepare "payment-deliveries.countDeliveries 2" (integer[], uuid[]) as
  select d.payment_id, d.state, count(*)::int as count from (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
      coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' offset 0) as d) as d group by 1, 2;

-- payment-deliveries.readNewestEvents: planned each time, with enable_seqscan = on
prepare "payment-deliveries.readNewestEvents" (integer, uuid[], bigint) as
  select k.payment_id, e.id from unnest($2::uuid[]) as k (payment_id)
  cross join lateral (
    select e.id from events e
    where e.client_key = $1 and e.payment_id = k.payment_id
    and e.id >= uuid '019cb0fe-9400-0000-0000-000000000000'
    order by e.sequence desc limit $3) as e;
