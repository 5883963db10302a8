-- What server/store/history/client-figures.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- client-figures.readOwedFigures: kept as read-owed-figures-of-client
prepare "client-figures.readOwedFigures" (integer, timestamp with time zone) as
  with down as materialized (
    select h.client_key, h.endpoint_id from endpoint_health h
    where h.circuit <> 'CLOSED'
    and h.next_probe_at > $2::timestamptz - interval '60000 ms')
  select count(due_at)::int as due, count(*) filter (where due_at is null)::int as waiting,
  min(due_at) as oldest
  from (
    select case when p.next_attempt_at <= $2 and not (p.client_key, p.endpoint_id) in (select client_key, endpoint_id from down)
    then p.next_attempt_at end as due_at
    from endpoints e cross join lateral (
      select p.client_key, p.endpoint_id, p.next_attempt_at from pending_deliveries p
      where p.endpoint_id = e.id and p.client_key = e.client_key offset 0) as p
    where e.client_key = $1 and e.kind not in ('notice', 'client-notice')) as owed;
