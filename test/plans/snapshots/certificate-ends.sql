-- What server/store/secrets/certificate-ends.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- certificate-ends.readCertificateEnds: kept as read-certificate-ends
prepare "certificate-ends.readCertificateEnds" as
  select id, name, subject, fingerprint, not_after, is_default, expiry_told_days
  from client_certificates where not_after is not null
  order by not_after, id limit 50;
