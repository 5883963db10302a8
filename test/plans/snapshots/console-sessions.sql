-- The statements of server/store/secrets/console-sessions.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- console-sessions.deleteOldClientLinks: planned each time
prepare "console-sessions.deleteOldClientLinks" (timestamp with time zone) as
  delete from client_console_links where expires_at <= $1;

-- console-sessions.deleteOldLinks: planned each time
prepare "console-sessions.deleteOldLinks" (timestamp with time zone) as
  delete from console_links where expires_at <= $1;

-- console-sessions.deleteSession: planned each time
prepare "console-sessions.deleteSession" (bytea) as
  delete from console_sessions where digest = $1;

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

-- console-sessions.findSession: kept as find-console-session
prepare "console-sessions.findSession" (bytea, timestamp with time zone) as
  select s.id, s.expires_at, s.first_key_digest, s.first_key_master_key_id,
  k.name as key_name, k.role as key_role,
  c.client_key, c.id as client_id, c.name as client_name,
  s.oidc_issuer, s.oidc_subject, s.oidc_sid, s.oidc_group, s.oidc_email, s.oidc_id_token
  from console_sessions s
  left join operator_keys k on k.id = s.operator_key_id and k.revoked_at is null
  left join client_secrets cs
  on cs.client_key = s.client_key and cs.id = s.client_secret_id
  left join clients c on c.client_key = s.client_key and c.status = 'ACTIVE'
  and (s.client_secret_id is null or (cs.id is not null and c.credentials = 'any'))
  where s.digest = $1 and s.expires_at > $2;

-- console-sessions.insertClientLink: planned each time
prepare "console-sessions.insertClientLink" (bytea, integer, timestamp with time zone) as
  insert into client_console_links (digest, client_key, expires_at) values ($1, $2, $3);

-- console-sessions.insertLink: planned each time
prepare "console-sessions.insertLink" (bytea, timestamp with time zone) as
  insert into console_links (digest, expires_at) values ($1, $2);

-- console-sessions.insertSession of the first key: planned each time
prepare "console-sessions.insertSession of the first key" (bytea, uuid, bytea, text, uuid, integer, uuid, timestamp with time zone, timestamp with time zone, text, text, text, text, text, bytea) as
  insert into console_sessions (digest, id, first_key_digest, first_key_master_key_id,
    operator_key_id, client_key, client_secret_id, created_at, expires_at,
    oidc_issuer, oidc_subject, oidc_sid, oidc_group, oidc_email, oidc_id_token)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);

-- console-sessions.insertSession of the first key 2: planned each time
prepare "console-sessions.insertSession of the first key 2" (timestamp with time zone) as
  delete from console_sessions where expires_at <= $1;

-- console-sessions.takeClientLink: planned each time
prepare "console-sessions.takeClientLink" (bytea) as
  delete from client_console_links where digest = $1 returning client_key, expires_at;

-- console-sessions.takeLink: planned each time
prepare "console-sessions.takeLink" (bytea) as
  delete from console_links where digest = $1 returning expires_at;

-- console-sessions.useLogout: planned each time
prepare "console-sessions.useLogout" (timestamp with time zone) as
  delete from used_logouts where expires_at <= $1;

-- console-sessions.useLogout 2: planned each time
prepare "console-sessions.useLogout 2" (bytea, timestamp with time zone) as
  insert into used_logouts (digest, expires_at) values ($1, $2) on conflict do nothing;
