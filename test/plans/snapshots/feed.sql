-- What server/store/history/feed.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- feed.readStretch: planned each time, with enable_seqscan = on
prepare "feed.readStretch" (integer, bigint, integer, uuid, bigint) as
  select id, payment_id, account_id, sequence, kind, created_at, text, place::text
  from events
  where client_key = $1 and (place, sequence, id) > ($2::bigint, $3::int, $4::uuid)
  and id >= uuid '019cc1bb-3f00-0000-0000-000000000000' and substr(text, 46, 12) <> '"erasedAt":"'
  order by events.place, sequence, id limit $5;
