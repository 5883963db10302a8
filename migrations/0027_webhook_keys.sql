-- The keys that sign callbacks (`v1a`) and statements: the service's own, apart from those of tokens, because one
-- key does one thing. The newest without an end signs. After a rotation the one before signs and verifies beside it
-- for 7 days, until verifies_until.
create table webhook_keys (
  kid text not null,
  public_jwk jsonb not null,
  -- Sealed. It goes when its key signs no more: what is left can verify an old receipt, and sign nothing.
  private_key bytea,
  created_at timestamptz not null,
  verifies_until timestamptz,
  constraint webhook_keys_pkey primary key (kid),
  constraint a_key_that_signs_is_whole check (verifies_until is not null or private_key is not null)
);
