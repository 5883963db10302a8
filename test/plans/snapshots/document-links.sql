-- What server/store/payments/document-links.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- document-links.keepLinks: kept as keep-links
prepare "document-links.keepLinks" (integer[], uuid[], uuid[], text[]) as
  with given as (
    select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::text[]) with ordinality
    as g (client_key, event_id, endpoint_id, url, place)
  ), made as (
    insert into document_links (client_key, event_id, endpoint_id, url)
    select client_key, event_id, endpoint_id, url from given where (select count(*) from feed_origin) >= 0
    on conflict do nothing
    returning client_key, event_id, endpoint_id, url
  )
  select coalesce(m.url, kept.url) as url from given g
  left join made m using (client_key, event_id, endpoint_id)
  left join lateral (
    select k.url from document_links k
    where k.client_key = g.client_key and k.event_id = g.event_id
    and k.endpoint_id = g.endpoint_id
    limit 1) as kept on true
  order by g.place;
