-- Which public keys a holder of the master key has written (server/operations/parts/trusted-keys.ts): an HMAC of the
-- key's id, its public part and its time. Without one, a key is trusted only as long as its sealed private part proves
-- it, which is how the rows of the version before are taken over, and those that it still makes beside this one.
alter table signing_keys add column authentication bytea;
alter table webhook_keys add column authentication bytea;
