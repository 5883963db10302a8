-- The statements of server/store/history/delivery-names.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- delivery-names.readDeliveryNames: kept as read-delivery-names
prepare "delivery-names.readDeliveryNames" (integer[], uuid[], uuid[]) as
  select c.name as client_name, a.name as account_name, p.text
  from unnest($1::int[], $2::uuid[], $3::uuid[]) with ordinality
  as k (client_key, account_id, payment_id, number)
  join clients c on c.client_key = k.client_key
  left join lateral (
    select a.name from accounts a
    where a.client_key = k.client_key and a.id = k.account_id limit 1) as a on true
  left join lateral (
    select p.text from payments p
    where p.id = k.payment_id and p.client_key = k.client_key limit 1) as p on true
  order by k.number;
