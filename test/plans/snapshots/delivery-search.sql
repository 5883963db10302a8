-- What server/store/history/delivery-search.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- delivery-search.findClientKey by accountId: planned each time
prepare "delivery-search.findClientKey by accountId" (uuid) as
  select client_key from accounts where id = $1 limit 1;

-- delivery-search.findClientKey by clientId: planned each time
prepare "delivery-search.findClientKey by clientId" (uuid) as
  select client_key from clients where id = $1 limit 1;

-- delivery-search.findClientKey by endpointId: planned each time
prepare "delivery-search.findClientKey by endpointId" (uuid) as
  select client_key from endpoints where id = $1 limit 1;
