-- The statements of server/store/proofs/statement-hours.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- statement-hours.deleteOldStatementHours: planned each time
prepare "statement-hours.deleteOldStatementHours" (timestamp with time zone) as
  delete from statement_hours where hour < $1;

-- statement-hours.keepHours: kept as keep-statement-hours
prepare "statement-hours.keepHours" (integer, uuid, double precision[], integer[], integer[], integer[], integer[], integer[], bytea[], bigint[], bytea[]) as
  insert into statement_hours as s (client_key, endpoint_id, hour, reopened, delivered,
    superseded, exhausted, cancelled, ids_digest, place, authentication)
  select $1, $2, to_timestamp(ms / 1000), reopened, delivered, superseded, exhausted,
  cancelled, ids_digest, place, authentication
  from unnest($3::float8[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[],
    $9::bytea[], $10::bigint[], $11::bytea[])
  as g (ms, reopened, delivered, superseded, exhausted, cancelled, ids_digest, place,
    authentication)
  on conflict (client_key, endpoint_id, hour) do update set
  delivered = excluded.delivered, superseded = excluded.superseded,
  exhausted = excluded.exhausted, cancelled = excluded.cancelled,
  ids_digest = excluded.ids_digest, place = excluded.place,
  authentication = excluded.authentication
  where s.reopened = excluded.reopened;

-- statement-hours.readStoredHours: kept as read-statement-hours
prepare "statement-hours.readStoredHours" (integer, uuid, timestamp with time zone, timestamp with time zone) as
  select hour, reopened, delivered, superseded, exhausted, cancelled, ids_digest,
  place::text, authentication
  from statement_hours
  where client_key = $1 and endpoint_id = $2 and hour >= $3 and hour < $4;
