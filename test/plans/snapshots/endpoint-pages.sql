-- What server/store/endpoints/endpoint-pages.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- endpoint-pages.countAllEndpoints: planned each time
prepare "endpoint-pages.countAllEndpoints" as
  select count(*) as total from (select e.client_key, e.id, e.created_at, e.url from endpoints e where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal)) as matching;

-- endpoint-pages.readEndpointMarks: planned each time
prepare "endpoint-pages.readEndpointMarks" as
  with recursive marks as (
    (select e.created_at, e.id, 20000 as rank from endpoints e where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) order by e.created_at, e.id limit 1 offset 19999)
    union all
    select n.created_at, n.id, m.rank + 20000 from marks m cross join lateral (
      select e.created_at, e.id from endpoints e
      where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) and (e.created_at, e.id) > (m.created_at, m.id) order by e.created_at, e.id limit 1 offset 19999) as n)
  select rank, created_at::text as created_at, id from marks order by rank;

-- Alike: by an id; by words; in a status; of a kind; of all
-- endpoint-pages.readPage by address: planned each time
prepare "endpoint-pages.readPage by address" (bigint, bigint) as
  with matching as not materialized (select e.client_key, e.id, e.created_at, e.url from endpoints e where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret
    from (select * from matching
      order by left(url, 600) collate "C", id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by left(url, 600) collate "C", id;

-- Alike: of all, at a mark
-- endpoint-pages.readPage by words that many have: planned each time
prepare "endpoint-pages.readPage by words that many have" (bigint, bigint, bigint, text) as
  with matching as not materialized (select * from (
      select e.client_key, e.id, e.created_at, e.url from endpoints e where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal)
      order by created_at, id limit 2000) as e
    where search_words(e.url) @@ search_query($4::text))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select $3::bigint as total) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret
    from (select * from matching
      order by created_at, id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by created_at, id;

-- Alike: not failing
-- endpoint-pages.readPage failing: planned each time
prepare "endpoint-pages.readPage failing" (bigint, bigint) as
  with matching as not materialized (select e.client_key, e.id, e.created_at, e.url from endpoints e where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) and exists (select from endpoint_health h where h.client_key = e.client_key
      and h.endpoint_id = e.id and h.failing_since is not null))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret
    from (select * from matching
      order by created_at, id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by created_at, id;

-- endpoint-pages.readPage failing, the longest first: planned each time
prepare "endpoint-pages.readPage failing, the longest first" (bigint, bigint) as
  with matching as not materialized (select e.client_key, e.id, e.created_at, e.url, h.failing_since from endpoints e left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) and exists (select from endpoint_health h where h.client_key = e.client_key
      and h.endpoint_id = e.id and h.failing_since is not null))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret, m.failing_since
    from (select * from (
        (select * from matching where failing_since is not null order by failing_since, id limit $1::bigint + $2::bigint)
        union all
        (select * from matching where failing_since is null order by id limit $1::bigint + $2::bigint)) as m
      order by failing_since, id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by failing_since, id;

-- endpoint-pages.readPage of a client: planned each time
prepare "endpoint-pages.readPage of a client" (bigint, bigint, uuid) as
  with matching as not materialized (select e.client_key, e.id, e.created_at, e.url from endpoints e where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) and e.client_key = (select client_key from clients where id = $3))
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret
    from (select * from matching
      order by created_at, id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by created_at, id;

-- endpoint-pages.readPage of an account: planned each time
prepare "endpoint-pages.readPage of an account" (bigint, bigint, uuid) as
  with matching as not materialized (select e.client_key, e.id, e.created_at, e.url from endpoints e where e.deleted_at is null and e.created_at > '-infinity' and e.client_key not in (select client_key from clients where is_internal) and e.client_key = (select client_key from accounts where id = $3)
    and e.scope = $3 and e.account_id = $3)
  select all_of_them.total, shown.*, (select a.name from accounts a
    where a.client_key = shown.client_key and a.id = shown.account_id) as account_name
  from (select count(*) as total from matching) as all_of_them
  left join (
    select e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
    e.status, e.created_at, e.deleted_at, events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret
    from (select * from matching
      order by created_at, id limit $1 offset $2) as m
    join endpoints e on e.client_key = m.client_key and e.id = m.id
    join clients c on c.client_key = e.client_key) as shown on true
  order by created_at, id;
