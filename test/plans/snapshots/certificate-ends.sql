-- The statements of server/store/secrets/certificate-ends.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- certificate-ends.readCertificateEnds: kept as read-certificate-ends
prepare "certificate-ends.readCertificateEnds" as
  select id, name, subject, fingerprint, not_after, is_default, expiry_told_days
  from client_certificates where not_after is not null
  order by not_after, id limit 50;

-- certificate-ends.saveExpiryTold: planned each time
prepare "certificate-ends.saveExpiryTold" (uuid[], timestamp with time zone[], smallint[]) as
  update client_certificates c
  set expiry_told_days = g.days, notices = c.notices + 1
  from unnest($1::uuid[], $2::timestamptz[], $3::smallint[]) as g (id, not_after, days)
  where c.id = g.id and c.not_after = g.not_after
  returning c.id, c.notices;
