-- The statements of server/store/secrets/client-certificates.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- client-certificates.countCertificateUses: planned each time
prepare "client-certificates.countCertificateUses" as
  select client_certificate, count(*) as count from endpoints
  where client_certificate is not null and deleted_at is null
  group by client_certificate;

-- client-certificates.deleteCertificate: planned each time
prepare "client-certificates.deleteCertificate" (uuid) as
  delete from client_certificates where id = $1;

-- client-certificates.insertCertificate: planned each time
prepare "client-certificates.insertCertificate" (uuid, text, text, bytea, text, text, bytea, timestamp with time zone, timestamp with time zone, boolean, timestamp with time zone) as
  insert into client_certificates (id, name, subject, private_key, request_pem, chain_pem,
    fingerprint, not_before, not_after, is_default, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- client-certificates.readCertificates: kept as read-client-certificates
prepare "client-certificates.readCertificates" as
  select id, name, subject, private_key, request_pem, chain_pem, fingerprint, not_before,
  not_after, is_default, created_at
  from client_certificates order by created_at, id limit 50;

-- client-certificates.replaceCertificate: planned each time
prepare "client-certificates.replaceCertificate" (text, text, timestamp with time zone) as
  update endpoints set client_certificate = $2, changed_at = $3
  where client_certificate = $1 and deleted_at is null;

-- client-certificates.saveChain: planned each time
prepare "client-certificates.saveChain" (uuid, text, text, bytea, timestamp with time zone, timestamp with time zone, boolean) as
  update client_certificates set subject = $2, chain_pem = $3, fingerprint = $4,
  not_before = $5, not_after = $6, is_default = $7,
  expiry_told_days = case when not_after = $6 then expiry_told_days end
  where id = $1;

-- Alike: 2
-- client-certificates.saveDefault: planned each time
prepare "client-certificates.saveDefault" as
  update client_certificates set is_default = false where is_default;
