-- For how long the session of a process has been known to have ended, as far as those have lived who watched it, and which
-- one. Its leases are to be had when its last attempts are over; who has just started, and does not live long either, would
-- begin to wait anew. Nobody trusts this for another sign than the one that it was written for: a process of the version before
-- writes another one, and leaves these as they are.
alter table processes
  add column ended_sign text,
  add column ended_for_ms bigint;
