-- What server/store/schema/default-partitions.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- default-partitions.readDefaultRows: planned each time
prepare "default-partitions.readDefaultRows" as
  select json_build_object('events', (select count(*)::int from (
        select from events_default limit 100000) as one), 'final_deliveries', (select count(*)::int from (
        select from final_deliveries_default limit 100000) as one), 'earlier_attempts', (select count(*)::int from (
        select from earlier_attempts_default limit 100000) as one)) as found;

-- default-partitions.readDefaultRows 2: planned each time
prepare "default-partitions.readDefaultRows 2" as
  select rows from inspect_audit_default(100000);
