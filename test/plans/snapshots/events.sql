-- What server/store/history/events.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- events.readEventsOfPayment: planned each time, with enable_seqscan = on
prepare "events.readEventsOfPayment" (integer, uuid, integer, bigint) as
  select id, payment_id, sequence, kind, created_at, text from events
  where client_key = $1 and payment_id = $2 and sequence < coalesce($3, 2147483647)
  and id >= uuid '019cb0fe-9400-0000-0000-000000000000'
  order by sequence desc limit $4;

-- events.readPayloadsWithin: planned each time, hot path
prepare "events.readPayloadsWithin" (integer[], uuid[]) as
  select e.* from unnest($1::int[], $2::uuid[]) as k (client_key, id)
  cross join lateral (
    select e.id, e.text, e.document_hash, e.document_bytes from events e
    where e.client_key = k.client_key and e.id = k.id
    and e.id >= uuid '019cd730-6900-0000-0000-000000000000' and e.id < uuid '019cd79a-5181-0000-0000-000000000000' and substr(e.text, 46, 12) <> '"erasedAt":"' limit 1) as e;
