-- What server/store/owed/released-strands.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- released-strands.releaseStrands: kept as release-strands
prepare "released-strands.releaseStrands" (integer[], uuid[], uuid[], integer[], timestamp with time zone) as
  with late as (
    select distinct s.client_key, s.id
    from unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[])
    as c (client_key, endpoint_id, payment_id, tried_sequence)
    cross join lateral (
      select s.client_key, s.id from pending_deliveries s
      where s.endpoint_id = c.endpoint_id and s.payment_id = c.payment_id
      and s.client_key + 0 = c.client_key
      and not s.is_replay and (s.run_attempts = 0 or s.sequence < c.tried_sequence)
      -- With a coalesce, because the planner would take the index of what is due. What is parked stays so.
      and coalesce(s.next_attempt_at, '-infinity') > $5
      -- Not as a join, which would turn the plan of the whole.
      and (select i.job_id from job_items i
        where i.client_key = s.client_key and i.delivery_id = s.id) is null
      offset 0) as s
  ), free as (
    select p.* from (select * from late order by client_key, id) as l
    cross join lateral (
      select p.client_key, p.id from pending_deliveries p
      where p.client_key = l.client_key and p.id = l.id
      for update of p skip locked) as p)
  update pending_deliveries p set next_attempt_at = $5 from free f where p.client_key = any(array[f.client_key]) and p.id = f.id;
