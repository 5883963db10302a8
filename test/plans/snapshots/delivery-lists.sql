-- What server/store/history/delivery-lists.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- delivery-lists.isOwedLittle: planned each time, with enable_seqscan = on
prepare "delivery-lists.isOwedLittle" (integer, uuid, bigint) as
  select count(*)::int as count from (
    select from pending_deliveries p where p.endpoint_id = $2 and p.client_key + 0 = $1 limit $3) as owed;

-- Alike: of a kind; of a time; of an account; of an endpoint
-- delivery-lists.readPart of a client: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a client" (bigint, integer, bigint) as
  with part as materialized (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at, d.is_replay,
    null::timestamptz as finished_at from pending_deliveries d
    where d.client_key = $2 and true order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- Alike: of a kind 2; of a time 2; of an account 2; of an endpoint 2; of rare states of an endpoint; of rare states of an endpoint 2
-- delivery-lists.readPart of a client 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a client 2" (integer, bigint, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
      coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
      where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and true order by d.id desc limit $2)),
  reached as (select (select case when count(*) >= $2 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- delivery-lists.readPart of a job: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a job" (integer[], uuid[], uuid, bigint) as
  with part as materialized (select d.* from unnest($1::int[], $2::uuid[]) as w (client_key, id)
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at, d.is_replay,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = w.client_key and d.id = w.id and true offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and exists (select from job_deliveries j where j.job_id = $3
      and j.delivery_id = d.id and j.client_key = d.client_key)
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- delivery-lists.readPart of a job 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a job 2" (integer[], uuid[], uuid, bigint) as
  with part as materialized (select d.* from unnest($1::int[], $2::uuid[]) as w (client_key, id)
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
      coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
      where d.client_key = w.client_key and d.id = w.id and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and exists (select from job_deliveries j where j.job_id = $3
      and j.delivery_id = d.id and j.client_key = d.client_key)
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- Alike: of a payment and an event, with an id
-- delivery-lists.readPart of a payment: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a payment" (integer[], uuid[], bigint) as
  with part as materialized (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at, d.is_replay,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and true offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- Alike: of a payment and an event, with an id 2
-- delivery-lists.readPart of a payment 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of a payment 2" (integer[], uuid[], bigint) as
  with part as materialized (select d.* from (
      select client_key, id as event_id,
      (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
      (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
      from unnest($1::int[], $2::uuid[]) as e (client_key, id) offset 0) as w
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
      coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
      where d.client_key = w.client_key and d.id between w.low and w.high
      and d.event_id = w.event_id and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' offset 0) as d),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- Alike: of all, next page; with an outcome
-- delivery-lists.readPart of all: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of all" (bigint, bigint) as
  with part as materialized (select d.* from (
      select n.client_key, case when count(*) over () >= $1
      then first_value(n.id) over (order by n.id) end as floor
      from (
        select c.client_key, d.id from clients c cross join lateral (
          select d.id from pending_deliveries d where d.client_key = c.client_key and true
          order by d.id desc limit 1) as d
        where not c.is_internal
        order by d.id desc limit $1) as n) as owner
    cross join lateral (
      select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at, d.is_replay,
      null::timestamptz as finished_at from pending_deliveries d
      where d.client_key = owner.client_key and true
      and d.id >= coalesce(owner.floor, '00000000-0000-0000-0000-000000000000')
      order by d.id desc limit $1) as d
    order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $2)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- Alike: of all, next page 2; with an id 2; with an outcome 2
-- delivery-lists.readPart of all 2: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of all 2" (bigint, bigint) as
  with part as materialized ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
      coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
      where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key is distinct from (select client_key from clients where is_internal) and d.finished_at > '-infinity' order by d.id desc limit $1)),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $2)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- delivery-lists.readPart of rare states: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of rare states" (bigint, text[], bigint) as
  with part as materialized (select d.* from ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
        coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key is distinct from (select client_key from clients where is_internal) and d.state = 'EXHAUSTED' order by d.id desc limit $1) union all (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
        coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key is distinct from (select client_key from clients where is_internal) and d.state = 'CANCELLED' order by d.id desc limit $1)) as d
    order by d.id desc limit $1),
  reached as (select (select case when count(*) >= $1 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.state = any($2::text[])
    order by d.id desc limit $3)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- delivery-lists.readPart of rare states of a client: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart of rare states of a client" (integer, bigint, text[], bigint) as
  with part as materialized (select d.* from ((select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
        coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and d.state = 'EXHAUSTED' order by d.id desc limit $2) union all (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, d.state, null::timestamptz as next_attempt_at,
        coalesce(d.is_replay, false) as is_replay, d.finished_at from final_deliveries d
        where true and d.finished_at >= timestamptz '2026-03-03T00:00:00.000Z' and d.client_key = $1 and d.state = 'CANCELLED' order by d.id desc limit $2)) as d
    order by d.id desc limit $2),
  reached as (select (select case when count(*) >= $2 then
      (select id from part order by id limit 1) end from part) as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to) and d.state = any($3::text[])
    order by d.id desc limit $4)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;

-- delivery-lists.readPart with an id: planned each time, with enable_seqscan = on
prepare "delivery-lists.readPart with an id" (uuid, bigint) as
  with part as materialized (select d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence, d.kind, d.created_at, d.document_mode, d.attempts, d.deadline_at, d.last_outcome, d.last_status, 'PENDING' as state, d.next_attempt_at, d.is_replay,
    null::timestamptz as finished_at from clients c
    join pending_deliveries d on d.client_key = c.client_key and d.id = $1::uuid),
  reached as (select null::uuid as down_to),
  found as (
    select d.* from part as d, reached r
    where (r.down_to is null or d.id >= r.down_to)
    order by d.id desc limit $2)
  select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
  h.next_probe_at
  from reached r
  left join (found d
    join clients c on c.client_key = d.client_key
    join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    left join endpoint_health h
    on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
  order by d.id desc;
