-- What server/store/secrets/clients.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- clients.findClient: kept as find-client
prepare "clients.findClient" (uuid) as
  select client_key, id, name, status, credentials, created_at from clients where id = $1 and not is_internal;

-- clients.insertClient: planned each time
prepare "clients.insertClient" (uuid, text, timestamp with time zone) as
  insert into clients (id, name, created_at) values ($1, $2, $3) returning client_key, id, name, status, credentials, created_at;

-- Alike: by -name; by createdAt; by name; by words; with an id
-- clients.listClients by -createdAt: planned each time
prepare "clients.listClients by -createdAt" (bigint, bigint) as
  select all_of_them.total, shown.*
  from (select count(*) as total from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))) as all_of_them
  left join lateral (
    select client_key, id, name, status, credentials, created_at from clients where not is_internal and client_key <> all(array(
        select m.client_key from client_moves m where m.state = 'MOVED'))
    order by created_at desc, id desc limit $1 offset $2
  ) as shown on true
  order by created_at desc, id desc;

-- clients.saveClientChange: planned each time
prepare "clients.saveClientChange" (uuid, text, text) as
  update clients set status = coalesce($2, status), credentials = coalesce($3, credentials)
  where id = $1 and not is_internal returning client_key, id, name, status, credentials, created_at;
