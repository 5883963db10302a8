-- What server/store/history/event-spans.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- event-spans.readEventsOf: planned each time, with enable_seqscan = on
prepare "event-spans.readEventsOf" (integer[], uuid[], uuid, bigint) as
  select e.client_key, e.id
  from unnest($1::int[], $2::uuid[]) as k (client_key, payment_id)
  cross join lateral (
    select e.client_key, e.id from events e
    where e.client_key = k.client_key and e.payment_id = k.payment_id
    and ($3::uuid is null or e.id <= $3) and e.id >= uuid '019cb0fe-9400-0000-0000-000000000000' offset 0) as e
  -- With ties: what is looked at are whole milliseconds.
  order by left(e.id::text, 13) desc fetch first $4 rows with ties;
