-- A lease that was taken before its time, because its owner's session had ended: what that owner had under way may last on.
-- Until it is over, the next owner's end is not enough to take it early again: who comes third would not know of the first.
-- A process of the version before takes no lease early, and leaves this as it is.
--
-- A constant as default: no table is rewritten, and the lock lasts for a moment.
alter table leases add column is_early boolean not null default false;
