-- The statements of server/store/endpoints/endpoint-hours.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- endpoint-hours.readEndpointHours: kept as read-hours-of-endpoints
prepare "endpoint-hours.readEndpointHours" (integer[], uuid[], timestamp with time zone) as
  select o.endpoint_id, o.hour, o.attempts, o.delivered
  from unnest($1::int[], $2::uuid[]) as k (client_key, endpoint_id)
  join endpoint_hours o on o.client_key = k.client_key and o.endpoint_id = k.endpoint_id
  and o.hour > $3
  order by o.hour;

-- endpoint-hours.readHoursOf: kept as read-hours-of-endpoint
prepare "endpoint-hours.readHoursOf" (integer, uuid, timestamp with time zone) as
  select hour, attempts, delivered, durations from endpoint_hours
  where client_key = $1 and endpoint_id = $2 and hour >= $3 order by hour;
