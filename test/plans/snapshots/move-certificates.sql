-- The statements of server/store/moves/move-certificates.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- move-certificates.readCertificateChoices: planned each time
prepare "move-certificates.readCertificateChoices" (integer) as
  select distinct client_certificate as choice from endpoints
  where client_key = $1 and client_certificate is not null and deleted_at is null;

-- move-certificates.renameCertificates: planned each time
prepare "move-certificates.renameCertificates" (integer, text[], text[]) as
  update endpoints e set client_certificate = g.there
  from unnest($2::text[], $3::text[]) as g (here, there)
  where e.client_key = $1 and e.client_certificate = g.here;
