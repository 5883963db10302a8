-- What server/store/history/search-hits.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- search-hits.findHolderById: planned each time
prepare "search-hits.findHolderById" (uuid, integer, uuid) as
  select f.kind, f.id, f.name, f.state, c.id as client_id, c.name as client_name from (
    select 'client' as kind, client_key, id, name, status as state, null::uuid as account_id
    from clients where id = $1
    union all
    select 'account', client_key, id, name, null, id from accounts where id = $1
    union all
    select 'endpoint', client_key, id, url,
    case when deleted_at is null then status else 'DELETED' end, account_id
    from endpoints where id = $1) as f
  join clients c on c.client_key = f.client_key
  where not c.is_internal and c.client_key <> all(array(
      select m.client_key from client_moves m where m.state = 'MOVED'))
  and ($2::int is null or (c.client_key = $2 and f.kind <> 'client'))
  and ($3::uuid is null or coalesce(f.account_id, $3) = $3) limit 1;

-- Alike: of all
-- search-hits.findNamedAccounts of a client: planned each time
prepare "search-hits.findNamedAccounts of a client" (text, integer, uuid) as
  select * from (select a.id, a.name, null::text as state, c.id as client_id, c.name as client_name
    from accounts a join clients c on c.client_key = a.client_key
    where search_words(a.name) @@ search_query($1::text) and not c.is_internal and c.client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))
    and a.client_key = $2 and ($3::uuid is null or a.id = $3) limit 1000) as found
  order by starts_with(lower(name), lower($1)) desc, lower(name), id limit 8;

-- search-hits.findNamedClients: planned each time
prepare "search-hits.findNamedClients" (text) as
  select * from (select c.id, c.name, c.status as state, c.id as client_id, c.name as client_name
    from clients c where search_words(c.name) @@ search_query($1::text) and not c.is_internal
    and c.client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED')) limit 1000) as found
  order by starts_with(lower(name), lower($1)) desc, lower(name), id limit 8;

-- Alike: of all
-- search-hits.findNamedEndpoints of a client: planned each time
prepare "search-hits.findNamedEndpoints of a client" (text, integer, uuid) as
  select * from (select e.id, e.url as name, e.status as state, c.id as client_id,
    c.name as client_name
    from endpoints e join clients c on c.client_key = e.client_key
    where search_words(e.url) @@ search_query($1::text) and e.deleted_at is null and not c.is_internal
    and e.client_key = $2 and ($3::uuid is null or coalesce(e.account_id, $3) = $3) limit 1000) as found
  order by starts_with(lower(name), lower($1)) desc, lower(name), id limit 8;

-- search-hits.findPaymentHits: planned each time
prepare "search-hits.findPaymentHits" (integer[], uuid[], integer, uuid) as
  select p.id, p.text, c.id as client_id, c.name as client_name
  from unnest($1::int[], $2::uuid[]) with ordinality as k (client_key, id, number)
  cross join lateral (
    select p.id, p.text, p.account_id from payments p
    where p.id = k.id and p.client_key = k.client_key limit 1) as p
  join clients c on c.client_key = k.client_key
  where not c.is_internal and ($3::int is null or c.client_key = $3)
  and ($4::uuid is null or p.account_id = $4)
  order by k.number limit 8;
