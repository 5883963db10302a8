-- The statements of server/store/history/delivery-search.ts, written by `npm run plans`. To paste into psql, after:
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

-- delivery-search.findEvent: planned each time
prepare "delivery-search.findEvent" (uuid) as
  select c.client_key from clients c
  join events e on e.client_key = c.client_key and e.id = $1 limit 1;

-- delivery-search.findPayment: kept as find-owners-of-payment
prepare "delivery-search.findPayment" (uuid) as
  select client_key from payments where id = $1;
