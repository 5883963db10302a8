-- The statements of server/store/payments/payment-lists.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- payment-lists.findByExternalId by search: planned each time
prepare "payment-lists.findByExternalId by search" (bigint, text, text) as
  select p.client_key, p.id from (
    select p.client_key, p.id, p.accepted_at from payments p where split_part(split_part(p.text, '"externalId":"', 2), '"', 1) = $2
    and position($3 in p.text) > 0 offset 0) as p
  where true
  and true
  order by p.accepted_at desc, p.id limit $1;
--   always
--     Limit
--       Sort on p.accepted_at DESC, p.id
--         Subquery Scan
--           Bitmap Heap Scan payments filter (text)
--             Bitmap Index Scan payments by payments_by_external_id (text)

-- payment-lists.findByExternalId by search of a payment: planned each time
prepare "payment-lists.findByExternalId by search of a payment" (bigint, text, text, uuid[]) as
  select p.client_key, p.id from (
    select p.client_key, p.id, p.accepted_at from payments p where split_part(split_part(p.text, '"externalId":"', 2), '"', 1) = $2
    and position($3 in p.text) > 0 offset 0) as p
  where true
  and p.id = any($4::uuid[])
  order by p.accepted_at desc, p.id limit $1;
--   always
--     Limit
--       Sort on p.accepted_at DESC, p.id
--         Subquery Scan
--           Bitmap Heap Scan payments filter (text)
--             Bitmap Index Scan payments by payments_by_external_id (text)

-- payment-lists.findByExternalId of a client: planned each time
prepare "payment-lists.findByExternalId of a client" (bigint, text, text, integer) as
  select p.client_key, p.id from (
    select p.client_key, p.id, p.accepted_at from payments p where split_part(split_part(p.text, '"externalId":"', 2), '"', 1) = $2
    and position($3 in p.text) > 0 offset 0) as p
  where p.client_key = $4
  and true
  order by p.accepted_at desc, p.id limit $1;
--   always
--     Limit
--       Sort on p.accepted_at DESC, p.id
--         Subquery Scan
--           Bitmap Heap Scan payments filter (text)
--             Bitmap Index Scan payments by payments_by_external_id (text)

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
--   for values given: full, never analyzed
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_by_id (id) filter (client_key)

-- payment-lists.readPaymentSlice of a client: planned each time
prepare "payment-lists.readPaymentSlice of a client" (bigint, bigint, uuid) as
  with looked as materialized (select d.* from (
      select n.client_key,
      case when count(*) over () >= $1
      then first_value(n.accepted_at) over (order by n.accepted_at) else '-infinity' end as floor
      from (
        select c.client_key, p.accepted_at from clients c cross join lateral (
          select p.accepted_at from payments p where p.client_key = c.client_key and true
          order by p.accepted_at desc, p.id desc limit 1) as p
        where not c.is_internal and c.id = $3 order by p.accepted_at desc limit $1) as n) as owner
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
    where substr(p.text, 46, 12) <> '"erasedAt":"' order by p.accepted_at desc, p.id desc limit $2)
  select r.*, p.id, c.id as client_id, c.name as client_name, p.account_id,
  a.name as account_name, p.version, p.sequence, p.accepted_at, p.changed_at, p.text
  from reached r left join (found p join clients c on c.client_key = p.client_key) on true
  left join accounts a on a.client_key = p.client_key and a.id = p.account_id
  order by p.accepted_at desc, p.id desc;
--   for values given: full, never analyzed
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Index Scan clients by client_id_is_unique (id) filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Index Scan clients by client_id_is_unique (id) filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Index Scan clients by client_id_is_unique (id) filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop
--           Nested Loop left
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan accounts by accounts_by_id (id) filter (client_key)
--           Index Scan clients by clients_pkey (client_key)

-- payment-lists.readPaymentSlice of a time: planned each time
prepare "payment-lists.readPaymentSlice of a time" (bigint, bigint, timestamp with time zone, timestamp with time zone) as
  with looked as materialized (select d.* from (
      select n.client_key,
      case when count(*) over () >= $1
      then first_value(n.accepted_at) over (order by n.accepted_at) else '-infinity' end as floor
      from (
        select c.client_key, p.accepted_at from clients c cross join lateral (
          select p.accepted_at from payments p where p.client_key = c.client_key and true and p.accepted_at >= $3 and p.accepted_at < $4
          order by p.accepted_at desc, p.id desc limit 1) as p
        where not c.is_internal order by p.accepted_at desc limit $1) as n) as owner
    cross join lateral (
      select p.client_key, p.id, p.accepted_at from payments p
      where p.client_key = owner.client_key and true and p.accepted_at >= $3 and p.accepted_at < $4 and p.accepted_at >= owner.floor
      order by p.accepted_at desc, p.id desc limit $1) as d
    order by d.accepted_at desc, d.id desc limit $1),
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
--   for values given: full, never analyzed
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key, accepted_at)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_3.accepted_at DESC, p_3.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_2.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key, accepted_at)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Merge Join
--             Sort on p.client_key
--               Subquery Scan
--                 Limit
--                   Sort on p_1.accepted_at DESC, p_1.id DESC
--                     Nested Loop
--                       CTE Scan looked
--                       Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey
--           Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key, accepted_at)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop
--           Nested Loop left
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan accounts by accounts_by_id (id) filter (client_key)
--           Index Scan clients by clients_pkey (client_key)

-- payment-lists.readPaymentSlice of all: planned each time
prepare "payment-lists.readPaymentSlice of all" (bigint, bigint) as
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
    where substr(p.text, 46, 12) <> '"erasedAt":"' order by p.accepted_at desc, p.id desc limit $2)
  select r.*, p.id, c.id as client_id, c.name as client_name, p.account_id,
  a.name as account_name, p.version, p.sequence, p.accepted_at, p.changed_at, p.text
  from reached r left join (found p join clients c on c.client_key = p.client_key) on true
  left join accounts a on a.client_key = p.client_key and a.id = p.account_id
  order by p.accepted_at desc, p.id desc;
--   for values given: full, never analyzed
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_3.accepted_at DESC, p_3.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_2.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Merge Join
--             Sort on p.client_key
--               Subquery Scan
--                 Limit
--                   Sort on p_1.accepted_at DESC, p_1.id DESC
--                     Nested Loop
--                       CTE Scan looked
--                       Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey
--           Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop
--           Nested Loop left
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan accounts by accounts_by_id (id) filter (client_key)
--           Index Scan clients by clients_pkey (client_key)

-- payment-lists.readPaymentSlice of all, next page: planned each time
prepare "payment-lists.readPaymentSlice of all, next page" (bigint, bigint, timestamp with time zone, uuid) as
  with looked as materialized (select d.* from (
      select n.client_key,
      case when count(*) over () >= $1
      then first_value(n.accepted_at) over (order by n.accepted_at) else '-infinity' end as floor
      from (
        select c.client_key, p.accepted_at from clients c cross join lateral (
          select p.accepted_at from payments p where p.client_key = c.client_key and true and (p.accepted_at, p.id) < ($3::timestamptz, $4::uuid)
          order by p.accepted_at desc, p.id desc limit 1) as p
        where not c.is_internal order by p.accepted_at desc limit $1) as n) as owner
    cross join lateral (
      select p.client_key, p.id, p.accepted_at from payments p
      where p.client_key = owner.client_key and true and (p.accepted_at, p.id) < ($3::timestamptz, $4::uuid) and p.accepted_at >= owner.floor
      order by p.accepted_at desc, p.id desc limit $1) as d
    order by d.accepted_at desc, d.id desc limit $1),
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
--   for values given: full, never analyzed
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key, accepted_at, id)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at, id)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_3.accepted_at DESC, p_3.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_2.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key, accepted_at, id)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at, id)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Merge Join
--             Sort on p.client_key
--               Subquery Scan
--                 Limit
--                   Sort on p_1.accepted_at DESC, p_1.id DESC
--                     Nested Loop
--                       CTE Scan looked
--                       Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey
--           Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Seq Scan clients filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key, accepted_at, id)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at, id)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop
--           Nested Loop left
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan accounts by accounts_by_id (id) filter (client_key)
--           Index Scan clients by clients_pkey (client_key)

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
--   for values given: full, never analyzed
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       InitPlan 1: Limit
--                         Index Scan accounts by accounts_by_id (id)
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Index Scan clients by clients_pkey (client_key) filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 3: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (account_id, text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_2.accepted_at DESC, p_2.id DESC
--           Nested Loop
--             WindowAgg
--               WindowAgg
--                 Sort on n.accepted_at
--                   Subquery Scan
--                     Limit
--                       InitPlan 1: Limit
--                         Index Scan accounts by accounts_by_id (id)
--                       Sort on p_1.accepted_at DESC
--                         Nested Loop
--                           Index Scan clients by clients_pkey (client_key) filter (is_internal)
--                           Limit
--                             Index Only Scan payments by payments_newest (client_key)
--             Limit
--               Index Only Scan payments by payments_newest (client_key, accepted_at)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 3: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (account_id, text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_by_id (id) filter (client_key)

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
--   for values given: full, never analyzed
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_1.accepted_at DESC, p_1.id DESC
--           Nested Loop
--             Bitmap Heap Scan payments filter (text)
--               Bitmap Index Scan payments by payments_by_external_id (text)
--             Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_1.accepted_at DESC, p_1.id DESC
--           Nested Loop
--             Bitmap Heap Scan payments filter (text)
--               Bitmap Index Scan payments by payments_by_external_id (text)
--             Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_by_id (id) filter (client_key)

-- payment-lists.readPaymentSlice with an id: planned each time
prepare "payment-lists.readPaymentSlice with an id" (bigint, bigint, uuid) as
  with looked as materialized (select p.client_key, p.id, p.accepted_at from payments p
    join clients c on c.client_key = p.client_key
    where p.id = $3 and not c.is_internal and true
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
--   for values given: full, never analyzed
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_1.accepted_at DESC
--           Hash Join
--             Index Scan clients by clients_pkey filter (is_internal)
--             Hash
--               Bitmap Heap Scan payments
--                 Bitmap Index Scan payments by payments_pkey (id)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_pkey (client_key, id)
--   for values given: full, analyzed; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_1.accepted_at DESC
--           Nested Loop
--             Index Scan payments by payments_pkey (id)
--             Index Scan clients by clients_pkey (client_key) filter (is_internal)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop left
--           Nested Loop
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan clients by clients_pkey (client_key)
--           Index Scan accounts by accounts_by_id (id) filter (client_key)
--   for values given: full, analyzed when empty
--     Sort on p.accepted_at DESC, p.id DESC
--       CTE looked: Limit
--         Sort on p_1.accepted_at DESC
--           Hash Join
--             Bitmap Heap Scan payments
--               Bitmap Index Scan payments by payments_pkey (id)
--             Hash
--               Index Scan clients by clients_pkey filter (is_internal)
--       Nested Loop left
--         Nested Loop left
--           Result
--           Limit
--             InitPlan 2: Aggregate
--               CTE Scan looked
--             Sort on looked.accepted_at, looked.id
--               Result
--                 CTE Scan looked
--         Nested Loop
--           Nested Loop left
--             Limit
--               Sort on p.accepted_at DESC, p.id DESC
--                 Nested Loop
--                   CTE Scan looked
--                   Index Scan payments by payments_pkey (id, client_key) filter (text)
--             Index Scan accounts by accounts_by_id (id) filter (client_key)
--           Index Scan clients by clients_pkey (client_key)
