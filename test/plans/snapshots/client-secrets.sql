-- What server/store/secrets/client-secrets.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- client-secrets.readCredentials: kept as read-credentials
prepare "client-secrets.readCredentials" (uuid[], bytea, text, uuid) as
  select client.client_key, client.status, client.credentials, coalesce(held.id, $4::uuid) as id,
  coalesce(held.digest, $2) as digest,
  coalesce(held.master_key_id, $3) as master_key_id
  from unnest((select $1::uuid[])::uuid[]) with ordinality as q (client_id, number)
  cross join lateral (
    select coalesce(max(client_key), -1) as client_key,
    coalesce(max(status), 'DISABLED') as status,
    coalesce(max(credentials), 'any') as credentials
    from clients where id = q.client_id
  ) as client
  cross join generate_series(1, 2) as nth
  left join lateral (
    select id, digest, master_key_id, row_number() over (order by created_at, id) as nth
    from client_secrets where client_key = client.client_key
  ) as held using (nth)
  order by q.number, nth;
