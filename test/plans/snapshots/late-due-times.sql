-- What server/store/owed/late-due-times.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- late-due-times.bringForward: kept as bring-forward
prepare "late-due-times.bringForward" (smallint, bigint, timestamp with time zone[], bigint) as
  with held as (
    select from leases where shard = $1 and epoch = $2 for key share
  ), late as (
    select p.client_key, p.id, p.latest from (
      select p.client_key, p.id, p.next_attempt_at,
      ($3::timestamptz[])[least(p.run_attempts + 1, cardinality($3::timestamptz[]))] as latest
      from pending_deliveries p
      where p.shard = $1 and p.next_attempt_at > ($3::timestamptz[])[1]
      offset 0) as p
    where p.next_attempt_at > p.latest and exists (select from held)
    limit $4
  ), free as (
    select p.*, l.latest from (select * from late order by client_key, id) as l
    cross join lateral (
      select p.client_key, p.id from pending_deliveries p
      where p.client_key = l.client_key and p.id = l.id
      for update of p skip locked) as p)
  update pending_deliveries p set next_attempt_at = least(p.next_attempt_at, f.latest)
  from free f where p.client_key = any(array[f.client_key]) and p.id = f.id;
