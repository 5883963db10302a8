-- What server/store/owed/cancellations.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- Alike: of one 2
-- cancellations.cancelDeliveries of many: kept as cancel-deliveries
prepare "cancellations.cancelDeliveries of many" (integer[], uuid[], timestamp with time zone, timestamp with time zone, timestamp with time zone) as
  with given as (
    select p.client_key, p.id, e.inactive_since from (
      select distinct client_key, id from unnest($1::int[], $2::uuid[]) as k (client_key, id)
      order by client_key, id) as k
    cross join lateral (
      select p.client_key, p.id, p.endpoint_id from pending_deliveries p
      where p.client_key = k.client_key and p.id = k.id
      for update of p skip locked) as p
    cross join lateral (
      select e.inactive_since from endpoints e
      where e.client_key = p.client_key and e.id = p.endpoint_id limit 1) as e
  ), ended as (
    delete from pending_deliveries p using given g where p.client_key = any(array[g.client_key]) and p.id = g.id
    -- What waits for a later time is not under way, nor what was paused a while ago.
    returning p.*, (p.next_attempt_at is null
      or p.next_attempt_at <= $4)
    and (g.inactive_since is null
      or g.inactive_since > $5) as is_begun
  ), filed as (
    insert into final_deliveries
    (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, state, finished_at, is_replay, attempts_begun)
    select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at, document_mode, attempts, deadline_at, last_outcome, last_status, 'CANCELLED', $3, nullif(is_replay, false),
    case when is_begun then attempts + 1 end
    from ended where (select count(*) from feed_origin) >= 0)
  select client_key, id, endpoint_id, shard, attempts, payment_id, sequence, is_replay
  from ended;
