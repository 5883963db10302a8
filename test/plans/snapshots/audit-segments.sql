-- The statements of server/store/proofs/audit-segments.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- audit-segments.beginSealRound: kept as begin-seal-round
prepare "audit-segments.beginSealRound" (timestamp with time zone, timestamp with time zone) as
  update audit_seal_progress set checked_at = $1 where checked_at <= $2 or checked_at > $1;

-- audit-segments.findImpossibleRow: planned each time
prepare "audit-segments.findImpossibleRow" (bigint) as
  select id, place::text from audit where place >= $1::bigint order by audit.place desc limit 1;

-- audit-segments.findNewestUnplaced: planned each time
prepare "audit-segments.findNewestUnplaced" as
  select max(id::text collate "C") as id from audit where place = 0 and true;

-- audit-segments.findRowBelow: planned each time
prepare "audit-segments.findRowBelow" as
  select id from audit where place < 0 order by audit.place limit 1;

-- audit-segments.findSegmentSealedFrom: kept as find-segment-sealed-from
prepare "audit-segments.findSegmentSealedFrom" (timestamp with time zone) as
  select segment from audit_segments where sealed_at >= $1
  order by sealed_at, segment limit 1;

-- audit-segments.hasUnplacedRows: planned each time
prepare "audit-segments.hasUnplacedRows" as
  select exists (select from audit where place = 0) as found;

-- audit-segments.insertSegment: kept as insert-segment
prepare "audit-segments.insertSegment" (bigint, bigint, bigint, integer, bytea, bytea, timestamp with time zone, text, bytea) as
  insert into audit_segments (segment, from_place, to_place, count, digest, previous,
    sealed_at, jws, row_digests)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9);

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

-- audit-segments.readSealedRange: kept as read-sealed-range
prepare "audit-segments.readSealedRange" as
  select (select from_place from audit_segments order by segment limit 1)::text as from_place,
  (select to_place from audit_segments order by segment desc limit 1)::text as to_place;

-- audit-segments.readSegments: kept as read-segments
prepare "audit-segments.readSegments" (bigint, bigint) as
  select segment, from_place::text, to_place::text, count, digest, previous, sealed_at, jws, row_digests from audit_segments where segment > $1
  order by segment limit $2;
