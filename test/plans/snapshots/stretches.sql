-- The statements of server/store/sql/stretches.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- stretches.readStretches: kept as read-partitions-of, with enable_seqscan = on
prepare "stretches.readStretches" (text) as
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = $1::text::regclass;
