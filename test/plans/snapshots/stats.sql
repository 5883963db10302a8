-- What server/store/history/stats.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- stats.readOwedPicture: kept as read-owed-picture, with enable_seqscan = on
prepare "stats.readOwedPicture" (timestamp with time zone[], timestamp with time zone) as
  with down as materialized (
    select h.client_key, h.endpoint_id from endpoint_health h
    where h.circuit <> 'CLOSED'
    and h.next_probe_at > $2::timestamptz - interval '60000 ms')
  select width_bucket(due_at, $1::timestamptz[]) as bucket, count(*)::int as count,
  min(due_at) as oldest
  from (
    select case when p.next_attempt_at > $2 or not (p.client_key, p.endpoint_id) in (select client_key, endpoint_id from down)
    then p.next_attempt_at end as due_at
    from pending_deliveries p) as owed
  group by 1;
