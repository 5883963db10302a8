-- What server/store/proofs/audit-table.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- Alike: once
-- audit-table.insertAudit: kept as insert-audit
prepare "audit-table.insertAudit" (uuid[], timestamp with time zone[], text[], text[], text[], uuid[]) as
  insert into audit (id, at, actor, action, object, request_id)
  select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
    $6::uuid[]);

-- Alike: by actor; by object; of a time; of all; without payments
-- audit-table.listAudit by action: planned each time
prepare "audit-table.listAudit by action" (bigint, text, uuid) as
  select id, at, actor, action, object, request_id, changes, place::text from audit
  where action = $2 and id < $3::uuid and true
  order by id desc limit $1;
