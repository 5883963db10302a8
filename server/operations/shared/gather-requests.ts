// How reads that requests ask for are gathered (store/connection/gathered-reads).

export const OF_REQUESTS = {
  perReadMax: 100,
  /** Requests that come during a statement are gathered, and the rest of the pool stays free. */
  readsMax: 1,
  // Starts once all readable sockets have been read. Microtasks run between two sockets, so requests that
  // arrived together would otherwise not share a statement.
  soon: (begin: () => void) => void setImmediate(begin),
}
