-- The statements of server/store/moves/cell-residents.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- cell-residents.readCellResidents: kept as read-cell-residents
prepare "cell-residents.readCellResidents" (text, uuid, bigint) as
  with gone as materialized (select client_key from client_moves where state = 'MOVED')
  (select 'client' as kind, id from clients
    where id >= $2 and substr(id::text, 21, 3) <> $1
    and client_key not in (select client_key from gone)
    order by id limit $3)
  union all
  (select 'account', id from accounts
    where id >= $2 and substr(id::text, 21, 3) <> $1
    and client_key not in (select client_key from gone)
    order by id limit $3);

-- cell-residents.readStampedSince: planned each time
prepare "cell-residents.readStampedSince" (text) as
  select run_on at time zone 'UTC' as since from migrations where name = $1;
