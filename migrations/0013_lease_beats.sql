-- A sign of life that is no time. Each renewal raises the beat of its leases and of its process. Another
-- process takes a lease over when it has seen no change of it for a whole lease on its own clock, or when
-- it was released (owner is null). `expires_at` and `seen_at` are still written, for people, and compared
-- by this version nowhere: the database's clock may jump.
--
-- While the previous version still runs: its processes compare `expires_at` with the database's clock, as
-- ever, and the new ones write it as ever, so they are respected. A renewal by the previous version does
-- not raise the beat, but it changes `expires_at`; the new version watches epoch, beat and `expires_at`
-- together, and any change of them is life. Until the last old process is gone, a jump of the database's
-- clock can still make it take a lease too early, as before; not longer.
--
-- Constants as defaults: no table is rewritten, and the lock lasts for a moment.
alter table leases add column beat bigint not null default 0;
alter table processes add column beat bigint not null default 0;
