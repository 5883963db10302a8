// How reads that requests ask for are gathered (store/gathered-reads).

export const OF_REQUESTS = {
  perReadMax: 100,
  /** What comes meanwhile gathers, and the rest of the pool stays free. */
  readsMax: 1,
  // Once all that has arrived is read: each request has a turn of its own, and microtasks run between
  // them, so that whatever waited in the sockets would not travel together.
  soon: (begin: () => void) => void setImmediate(begin),
}
