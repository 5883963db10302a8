-- What server/store/secrets/accounts.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- accounts.listAccounts: planned each time
prepare "accounts.listAccounts" (integer, bigint, bigint) as
  select all_of_them.total, shown.id, shown.name
  from (select count(*) as total from accounts where client_key = $1) as all_of_them
  left join (
    select a.id, a.name, a.created_at
    from (select id from accounts where client_key = $1
      order by created_at, id limit $2 offset $3) as on_page
    join accounts a on a.client_key = $1 and a.id = on_page.id
  ) as shown on true
  order by shown.created_at, shown.id;

-- accounts.listAccounts that were counted: planned each time
prepare "accounts.listAccounts that were counted" (integer, bigint, bigint, bigint) as
  select all_of_them.total, shown.id, shown.name
  from (select $4::bigint as total) as all_of_them
  left join (
    select a.id, a.name, a.created_at
    from (select id from accounts where client_key = $1
      order by created_at, id limit $2 offset $3) as on_page
    join accounts a on a.client_key = $1 and a.id = on_page.id
  ) as shown on true
  order by shown.created_at, shown.id;
