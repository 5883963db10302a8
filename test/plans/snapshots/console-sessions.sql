-- What server/store/secrets/console-sessions.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- console-sessions.deleteSessionsOfPerson: planned each time
prepare "console-sessions.deleteSessionsOfPerson" (text, text, text[], text) as
  delete from console_sessions
  where oidc_subject = $1 and oidc_issuer = $2 and oidc_group <> all ($3::text[])
  and ($4::text is null or oidc_sid is null or oidc_sid = $4)
  returning id, digest, oidc_subject as subject, oidc_email as email;

-- console-sessions.deleteSessionsOfSid: planned each time
prepare "console-sessions.deleteSessionsOfSid" (text, text) as
  delete from console_sessions where oidc_sid = $1 and oidc_issuer = $2 returning id, digest, oidc_subject as subject, oidc_email as email;

-- Alike: of a person; of an operator key; of the first key
-- console-sessions.deleteSurplus of a client: planned each time
prepare "console-sessions.deleteSurplus of a client" (integer) as
  delete from console_sessions where digest in (
    select digest from console_sessions where client_key = $1
    order by created_at desc offset 50);
