-- The token that an endpoint's receiver asks for: where it is fetched, by whom, and for what. The secret stands apart, because
-- it is sealed; with a key of the service's own there is none.
--
-- Without a default: no table is rewritten, and the lock lasts for a moment.
alter table endpoints
  add column oauth2 jsonb,
  add column oauth2_secret bytea,
  add constraint oauth2_secret_is_of_a_client check (oauth2_secret is null or oauth2 is not null) not valid;
alter table endpoints validate constraint oauth2_secret_is_of_a_client;
