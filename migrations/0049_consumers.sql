-- Who consumes a source that one process at a time may read: the lease of the one that took it last. Whatever is recorded
-- names the lease that it was read under, and is refused once another one stands here (server/store/consumer-lease.ts).
-- A process of the version before consumes without it: an advisory lock, which all versions take, keeps the two apart.

create table consumers (
  source text not null,
  lease uuid not null,
  constraint consumers_pkey primary key (source)
);
