-- The statements of server/store/removal/audit-segment-retention.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- audit-segment-retention.findLastSegmentOf: planned each time
prepare "audit-segment-retention.findLastSegmentOf" (uuid, bigint) as
  with last as (select max(place) as place from audit where id < $1::uuid and place > 0
    and place >= coalesce((select to_place from audit_segments where segment = $2), 0))
  select last.place::text, s.segment, s.digest, s.sealed_at from last
  left join lateral (select segment, digest, sealed_at, to_place from audit_segments
    where from_place <= last.place order by segment desc limit 1) s
  on s.to_place > last.place;

-- audit-segment-retention.forgetRowDigests: planned each time
prepare "audit-segment-retention.forgetRowDigests" (bigint) as
  with left_over as (
    select min(place) as place from audit
    where place >= (select from_place from audit_segments where row_digests is not null
      order by segment limit 1)
    and place < (select to_place from audit_segments where segment = $1)
  )
  update audit_segments s set row_digests = null from left_over
  where s.segment <= $1 and s.row_digests is not null
  and (left_over.place is null or s.to_place <= left_over.place);

-- audit-segment-retention.insertDrop: kept as insert-audit-drop
prepare "audit-segment-retention.insertDrop" (bigint, text) as
  insert into audit_drops (through, jws) values ($1, $2);

-- audit-segment-retention.readLastDrop: kept as read-last-audit-drop
prepare "audit-segment-retention.readLastDrop" as
  select through, jws from audit_drops order by through desc limit 1;
