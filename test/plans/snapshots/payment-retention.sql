-- The statements of server/store/removal/payment-retention.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- payment-retention.forgetOldPayments: kept as forget-old-payments
prepare "payment-retention.forgetOldPayments" (integer, timestamp with time zone, timestamp with time zone, uuid, bigint, uuid) as
  with looked as materialized (
    select p.id, p.accepted_at, p.changed_at from payments p
    where p.client_key = $1 and p.accepted_at < $2
    and (p.accepted_at, p.id) > ($3::timestamptz, $4::uuid)
    order by p.accepted_at, p.id limit $5
  ), owed as materialized (
    select distinct d.payment_id from pending_deliveries d
    where d.client_key = $1 and d.id < $6
  ), old as materialized (
    select p.id from looked l cross join lateral (
      select p.id from payments p
      where p.id = l.id and p.client_key = $1 and p.changed_at < $2
      and p.id not in (select payment_id from owed)
      for update of p skip locked) as p
  ), gone as (
    delete from payments p using old
    where p.id = old.id and p.client_key = $1
    returning p.id
  )
  select l.accepted_at::text, l.id, l.id in (select id from gone) as is_old from looked l
  order by l.accepted_at, l.id;

-- payment-retention.readClientKeys: kept as read-client-keys
prepare "payment-retention.readClientKeys" as
  select client_key from clients order by client_key;
