-- Sessions of people who signed in with their company (OIDC). A session names the group that gave the role, not the
-- role: what a group may do is read from the settings each time, so a group that is taken out of them ends it.

alter table console_sessions
  add column oidc_issuer text,
  add column oidc_subject text,
  -- The provider's own session, where it names one: back-channel logout may speak of that alone.
  add column oidc_sid text,
  add column oidc_group text,
  add column oidc_email text,
  -- Sealed. Some providers end their session only for whoever shows it.
  add column oidc_id_token bytea;
alter table console_sessions drop constraint session_has_one_holder;
alter table console_sessions add constraint session_has_one_holder
  check (num_nonnulls(first_key_digest, operator_key_id, client_key, oidc_subject) = 1);
alter table console_sessions add constraint person_has_issuer_and_group
  check ((oidc_subject is null) = (oidc_issuer is null) and (oidc_subject is null) = (oidc_group is null));

create index console_sessions_by_person on console_sessions (oidc_subject, created_at)
  where oidc_subject is not null;
create index console_sessions_by_sid on console_sessions (oidc_sid) where oidc_sid is not null;
