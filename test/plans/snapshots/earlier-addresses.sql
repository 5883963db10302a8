-- The statements of server/store/endpoints/earlier-addresses.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- earlier-addresses.findEarlierAddress: kept as find-earlier-address
prepare "earlier-addresses.findEarlierAddress" (integer, uuid, timestamp with time zone) as
  select url from earlier_addresses
  where client_key = $1 and endpoint_id = $2 and until > $3 order by until limit 1;
