-- What server/store/payments/payment-lists.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- Alike: by search of a payment; of a client
-- payment-lists.findByExternalId by search: planned each time
prepare "payment-lists.findByExternalId by search" (bigint, text, text) as
  select p.client_key, p.id from (
    select p.client_key, p.id, p.accepted_at from payments p where split_part(split_part(p.text, '"externalId":"', 2), '"', 1) = $2
    and position($3 in p.text) > 0 offset 0) as p
  where true
  and true
  order by p.accepted_at desc, p.id limit $1;

-- Alike: of a client; of a time; of all; of all, next page
-- payment-lists.readPaymentSlice in a state: planned each time
prepare "payment-lists.readPaymentSlice in a state" (bigint, bigint, text) as
  with looked as materialized (select d.* from (
      select n.client_key,
      case when count(*) over () >= $1
      then first_value(n.accepted_at) over (order by n.accepted_at) else '-infinity' end as floor
      from (
        select c.client_key, p.accepted_at from clients c cross join lateral (
          select p.accepted_at from payments p where p.client_key = c.client_key and true
          order by p.accepted_at desc, p.id desc limit 1) as p
        where not c.is_internal order by p.accepted_at desc limit $1) as n) as owner
    cross join lateral (
      select p.client_key, p.id, p.accepted_at from payments p
      where p.client_key = owner.client_key and true and p.accepted_at >= owner.floor
      order by p.accepted_at desc, p.id desc limit $1) as d
    order by d.accepted_at desc, d.id desc limit $1),
  reached as (
    select l.accepted_at as down_at, l.id as down_id from (values (1)) as one (n)
    left join (select accepted_at, id from looked
      where (select count(*) from looked) >= $1
      order by accepted_at, id limit 1) as l on true),
  found as (
    select p.* from looked l join payments p on p.client_key = l.client_key and p.id = l.id
    where substr(p.text, 46, 12) <> '"erasedAt":"' and substr(p.text, 46) like $3 order by p.accepted_at desc, p.id desc limit $2)
  select r.*, p.id, c.id as client_id, c.name as client_name, p.account_id,
  a.name as account_name, p.version, p.sequence, p.accepted_at, p.changed_at, p.text
  from reached r left join (found p join clients c on c.client_key = p.client_key) on true
  left join accounts a on a.client_key = p.client_key and a.id = p.account_id
  order by p.accepted_at desc, p.id desc;

-- payment-lists.readPaymentSlice of an account: planned each time
prepare "payment-lists.readPaymentSlice of an account" (bigint, bigint, uuid, uuid) as
  with looked as materialized (select d.* from (
      select n.client_key,
      case when count(*) over () >= $1
      then first_value(n.accepted_at) over (order by n.accepted_at) else '-infinity' end as floor
      from (
        select c.client_key, p.accepted_at from clients c cross join lateral (
          select p.accepted_at from payments p where p.client_key = c.client_key and true
          order by p.accepted_at desc, p.id desc limit 1) as p
        where not c.is_internal and c.client_key = (select a.client_key from accounts a where a.id = $4 limit 1) order by p.accepted_at desc limit $1) as n) as owner
    cross join lateral (
      select p.client_key, p.id, p.accepted_at from payments p
      where p.client_key = owner.client_key and true and p.accepted_at >= owner.floor
      order by p.accepted_at desc, p.id desc limit $1) as d
    order by d.accepted_at desc, d.id desc limit $1),
  reached as (
    select l.accepted_at as down_at, l.id as down_id from (values (1)) as one (n)
    left join (select accepted_at, id from looked
      where (select count(*) from looked) >= $1
      order by accepted_at, id limit 1) as l on true),
  found as (
    select p.* from looked l join payments p on p.client_key = l.client_key and p.id = l.id
    where substr(p.text, 46, 12) <> '"erasedAt":"' and p.account_id = $3 order by p.accepted_at desc, p.id desc limit $2)
  select r.*, p.id, c.id as client_id, c.name as client_name, p.account_id,
  a.name as account_name, p.version, p.sequence, p.accepted_at, p.changed_at, p.text
  from reached r left join (found p join clients c on c.client_key = p.client_key) on true
  left join accounts a on a.client_key = p.client_key and a.id = p.account_id
  order by p.accepted_at desc, p.id desc;

-- Alike: with an id
-- payment-lists.readPaymentSlice with an external id: planned each time
prepare "payment-lists.readPaymentSlice with an external id" (bigint, bigint, text, text) as
  with looked as materialized (select p.client_key, p.id, p.accepted_at from payments p
    join clients c on c.client_key = p.client_key
    where split_part(split_part(p.text, '"externalId":"', 2), '"', 1) = $3
    and position($4 in p.text) > 0 and not c.is_internal and true
    order by p.accepted_at desc, p.id desc limit $1),
  reached as (
    select l.accepted_at as down_at, l.id as down_id from (values (1)) as one (n)
    left join (select accepted_at, id from looked
      where (select count(*) from looked) >= $1
      order by accepted_at, id limit 1) as l on true),
  found as (
    select p.* from looked l join payments p on p.client_key = l.client_key and p.id = l.id
    where substr(p.text, 46, 12) <> '"erasedAt":"' order by p.accepted_at desc, p.id desc limit $2)
  select r.*, p.id, c.id as client_id, c.name as client_name, p.account_id,
  a.name as account_name, p.version, p.sequence, p.accepted_at, p.changed_at, p.text
  from reached r left join (found p join clients c on c.client_key = p.client_key) on true
  left join accounts a on a.client_key = p.client_key and a.id = p.account_id
  order by p.accepted_at desc, p.id desc;
