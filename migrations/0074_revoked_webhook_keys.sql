-- Webhook keys that were revoked, by their ids: their rows are gone from webhook_keys, so that nothing trusts them. Whoever
-- holds a receipt or a segment of the audit that such a key has signed is told when it was revoked, instead of that the
-- receipt is forged. Read with the keys, of which there are a few.
create table revoked_webhook_keys (
  kid text not null,
  revoked_at timestamptz not null,
  constraint revoked_webhook_keys_pkey primary key (kid)
);
