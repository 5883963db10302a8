-- The statements of server/store/removal/retention.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- retention.deleteOldHours: planned each time
prepare "retention.deleteOldHours" (timestamp with time zone) as
  delete from endpoint_hours where hour < $1;

-- retention.deleteUnusedDocuments: planned each time
prepare "retention.deleteUnusedDocuments" (timestamp with time zone, integer, bytea, bigint) as
  with looked as materialized (
    select d.client_key, d.hash, d.created_at from documents d
    where (d.client_key, d.hash) > ($2::int, $3::bytea)
    order by d.client_key, d.hash limit $4)
  select l.client_key, l.hash, l.created_at::text,
  l.created_at < $1 and (select true from payments p
    where p.client_key = l.client_key and p.document_hash = l.hash limit 1) is null as is_unused
  from looked l order by l.client_key, l.hash;

-- retention.isStillOwed: planned each time
prepare "retention.isStillOwed" (uuid, uuid) as
  select exists (select from clients c cross join lateral (
      select from pending_deliveries d
      where d.client_key = c.client_key and d.id >= $1::uuid and d.id < $2::uuid limit 1) as d) as owed;

-- retention.readPartitions: planned each time
prepare "retention.readPartitions" as
  select p.relname as parent, c.relname as name from pg_inherits i
  join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
  where p.relnamespace = current_schema()::regnamespace
  and p.relname in ('events', 'final_deliveries', 'earlier_attempts') and c.relkind = 'r';
