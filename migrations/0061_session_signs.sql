-- A process that died is known to be dead when its session was closed: the name of a lock that this session holds, in
-- which turn of the process's signs. Null: it has none, as a process of the version before. That one neither reads nor
-- writes these, and takes leases after their whole time.
--
-- A constant as default: no table is rewritten, and the lock lasts for a moment.
alter table processes add column sign_turn bigint not null default 0;
alter table processes add column sign text;
