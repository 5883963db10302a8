-- What server/store/secrets/operator-keys.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- operator-keys.listKeys: planned each time
prepare "operator-keys.listKeys" (bigint, bigint) as
  select all_of_them.total, shown.*
  from (select count(*) as total from operator_keys) as all_of_them
  left join lateral (
    select id, name, role, created_at, revoked_at, last_used_at from operator_keys order by id limit $1 offset $2
  ) as shown on true
  order by shown.id;

-- operator-keys.readLiveKeys: kept as read-live-keys
prepare "operator-keys.readLiveKeys" as
  select id, name, role, digest, master_key_id from operator_keys
  where revoked_at is null order by name limit 100;
