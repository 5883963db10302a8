-- What server/store/secrets/client-certificates.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- client-certificates.readCertificates: kept as read-client-certificates
prepare "client-certificates.readCertificates" as
  select id, name, subject, private_key, request_pem, chain_pem, fingerprint, not_before,
  not_after, is_default, created_at
  from client_certificates order by created_at, id limit 50;
