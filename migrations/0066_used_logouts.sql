-- A logout that the company's provider has sent ends sessions once, in whichever process it arrives: sent again by someone
-- who has seen it, it would end those that were opened since. A digest of who sent it and its jti, for as long as it could
-- be sent again.
create table used_logouts (
  digest bytea primary key,
  expires_at timestamptz not null
);
-- Each use deletes what is over.
create index used_logouts_by_expiry on used_logouts (expires_at);
