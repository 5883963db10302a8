-- What server/store/history/delivery-details.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- delivery-details.readAttemptThatDelivered: planned each time, with enable_seqscan = on
prepare "delivery-details.readAttemptThatDelivered" (integer, uuid) as
  select attempts as attempt, attempted_at as at, duration_ms, last_outcome as outcome,
  last_status as status, excerpt
  from final_deliveries
  where client_key = $1 and id = $2 and state = 'DELIVERED'
  and finished_at >= timestamptz '2026-03-10T11:59:30.320Z' and finished_at < timestamptz '2026-03-10T11:59:32.321Z';

-- delivery-details.readDeliveriesOfEvents: planned each time, with enable_seqscan = on
prepare "delivery-details.readDeliveriesOfEvents" (integer[], uuid[]) as
  select d.event_id, d.id, d.endpoint_id, e.url, d.state from (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at, d.is_replay,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and true offset 0) as d) as d
  join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id;

-- delivery-details.readDeliveriesOfEvents 2: planned each time, with enable_seqscan = on
prepare "delivery-details.readDeliveriesOfEvents 2" (integer[], uuid[]) as
  select d.event_id, d.id, d.endpoint_id, e.url, d.state from (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
      coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' offset 0) as d) as d
  join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id;

-- delivery-details.readEarlierAttempts: planned each time, with enable_seqscan = on
prepare "delivery-details.readEarlierAttempts" (integer, uuid, bigint) as
  select attempt, at, duration_ms, outcome, status, excerpt from earlier_attempts
  where client_key = $1 and delivery_id = $2 and at >= timestamptz '2026-03-09T11:59:31.200Z'
  order by attempt desc, at desc limit $3;

-- Alike: of all
-- delivery-details.readOne of a client: planned each time, with enable_seqscan = on
prepare "delivery-details.readOne of a client" (uuid, integer, uuid) as
  select d.*, c.id as client_id, e.url, e.status, e.deleted_at is not null as is_deleted,
  e.inactive_since, e.kind = 'listener' as is_listener, e.deliver, h.circuit,
  h.next_probe_at
  from (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at, d.run_attempts, d.is_replay,
    null::timestamptz as finished_at
    from clients c cross join lateral (
      select * from pending_deliveries d where d.client_key = c.client_key and d.id = $1 limit 1) as d
    where c.client_key = $2) as d
  join clients c on c.client_key = d.client_key
  join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
  left join endpoint_health h
  on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id
  where $3::uuid is null or d.account_id = $3
  limit 1;

-- Alike: of all 2
-- delivery-details.readOne of a client 2: planned each time, with enable_seqscan = on
prepare "delivery-details.readOne of a client 2" (uuid, integer, uuid) as
  select d.*, c.id as client_id, e.url, e.status, e.deleted_at is not null as is_deleted,
  e.inactive_since, e.kind = 'listener' as is_listener, e.deliver, h.circuit,
  h.next_probe_at
  from (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at, null::int as run_attempts,
    coalesce(d.is_replay, false) as is_replay, d.finished_at
    from final_deliveries d
    where d.id = $1 and d.finished_at >= timestamptz '2026-03-09T11:59:31.200Z'
    and d.client_key = $2) as d
  join clients c on c.client_key = d.client_key
  join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
  left join endpoint_health h
  on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id
  where $3::uuid is null or d.account_id = $3
  limit 1;

-- delivery-details.readSuccess: planned each time, with enable_seqscan = on
prepare "delivery-details.readSuccess" (integer, uuid) as
  select attempt, at, duration_ms, outcome, status, excerpt from earlier_attempts
  where client_key = $1 and delivery_id = $2 and at >= timestamptz '2026-03-09T11:59:31.200Z'
  and outcome = 'answered' and status = 200
  order by attempt desc, at desc limit 1;
