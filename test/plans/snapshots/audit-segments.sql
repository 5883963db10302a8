-- What server/store/proofs/audit-segments.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- audit-segments.findNewestUnplaced: planned each time
prepare "audit-segments.findNewestUnplaced" as
  select max(id::text collate "C") as id from audit where place = 0 and true;

-- audit-segments.readOldestUnsealed: planned each time
prepare "audit-segments.readOldestUnsealed" (bigint) as
  select min(at) as at from audit
  where place >= $1::bigint and true;

-- audit-segments.readPlacedRows: planned each time
prepare "audit-segments.readPlacedRows" (bigint, bigint, bigint) as
  select id, at, extract(microsecond from at)::integer % 1000 as microseconds, actor, action, object,
  request_id, changes, place::text as place from audit
  where audit.place >= $1::bigint and audit.place < $2::bigint
  and true
  order by audit.place, id limit $3;

-- audit-segments.readSealHead: kept as read-seal-head
prepare "audit-segments.readSealHead" as
  select segment, from_place::text, to_place::text, count, digest, previous, sealed_at, jws from audit_segments order by segment desc limit 1;

-- audit-segments.readSegments: kept as read-segments
prepare "audit-segments.readSegments" (bigint, bigint) as
  select segment, from_place::text, to_place::text, count, digest, previous, sealed_at, jws, row_digests from audit_segments where segment > $1
  order by segment limit $2;
