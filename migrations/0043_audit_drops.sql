-- Rows of the audit that retention takes are covered by a drop that the service signs (core/audit-drop.ts). Whoever owns
-- this database and has no master key can take such a row away, which is found, but can make none.
create table audit_drops (
  -- Rows of this segment, and of those before it, may be gone.
  through bigint not null,
  jws text not null,
  constraint audit_drops_pkey primary key (through)
);

-- What the last verification came to, besides its finding. The versions before write none: what they have found without it
-- rested on less, and is not shown.
alter table audit_seal_progress add column verdict text;
