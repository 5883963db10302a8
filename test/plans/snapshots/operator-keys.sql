-- The statements of server/store/secrets/operator-keys.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- operator-keys.insertKey: planned each time
prepare "operator-keys.insertKey" (uuid, text, text, bytea, text, timestamp with time zone) as
  insert into operator_keys (id, name, role, digest, master_key_id, created_at)
  values ($1, $2, $3, $4, $5, $6);

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

-- operator-keys.replaceKeyDigest: planned each time
prepare "operator-keys.replaceKeyDigest" (uuid, bytea, text) as
  update operator_keys set digest = $2, master_key_id = $3 where id = $1;

-- operator-keys.revokeKey: planned each time
prepare "operator-keys.revokeKey" (uuid, timestamp with time zone) as
  update operator_keys set revoked_at = $2 where id = $1 and revoked_at is null;

-- operator-keys.touchKey: kept as touch-key
prepare "operator-keys.touchKey" (uuid, timestamp with time zone) as
  update operator_keys set last_used_at = $2
  where id = $1 and (last_used_at is null or last_used_at < $2);
