-- What server/store/removal/deleted-endpoints.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- Alike: rest
-- deleted-endpoints.cancelOwedAfter first: kept as cancel-first-owed
prepare "deleted-endpoints.cancelOwedAfter first" (integer, uuid, timestamp with time zone, uuid, integer, bigint) as
  with portion as materialized (
    select p.client_key, p.id, p.payment_id, p.sequence from pending_deliveries p
    where (p.endpoint_id, p.payment_id, p.sequence) > ($2, $4, $5)
    and p.endpoint_id <= $2
    order by p.endpoint_id, p.payment_id, p.sequence limit $6
    for update of p
  ), cancelled as (
    delete from pending_deliveries p using portion o
    where p.client_key = any(array[o.client_key]) and p.id = o.id and o.client_key = $1
    returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id, p.sequence, p.kind, p.created_at, p.document_mode, p.attempts, p.deadline_at, p.last_outcome, p.last_status
  ), filed as (
    insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, state, finished_at)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, 'CANCELLED', $3 from cancelled where (select count(*) from feed_origin) >= 0)
  select (count(*) over ())::int as count, payment_id, sequence from portion
  order by payment_id desc, sequence desc limit 1;

-- deleted-endpoints.readDeletedOwed: planned each time
prepare "deleted-endpoints.readDeletedOwed" (bigint, uuid, integer) as
  select e.client_key, e.id from endpoints e
  cross join lateral (
    select from pending_deliveries p
    where (p.endpoint_id, p.payment_id, p.sequence) > (e.id, $2, $3)
    and p.endpoint_id <= e.id limit 1) as owed
  where e.deleted_at is not null limit $1;
