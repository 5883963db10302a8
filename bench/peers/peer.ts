// What a peer has to do in the benchmark: keep a job durably, have it delivered, retry it, and leave a
// row per attempt. The types are our own: the peers' packages are not there when types are checked.

export interface Job {
  paymentId: string
  eventId: string
  url: string
  /** The callback's body. */
  text: string
}

export interface PeerContext {
  /** Null for a peer that keeps its jobs in Redis. */
  databaseUrl: string | null
  redisPort: number
  /** Signs as Paybell does and POSTs with undici; throws when the answer is not 200. */
  deliver(job: Job): Promise<number>
}

export interface Peer {
  add(job: Job): Promise<void>
  addMany(jobs: readonly Job[]): Promise<void>
  isSettled(): Promise<boolean>
  stop(): Promise<void>
}

export type StartPeer = (context: PeerContext) => Promise<Peer>

/** Requests to the receiver under way at most, for those that choose it themselves. */
export const SENDING_MAX = 128

/** Imports a package that only the benchmark installs. */
export async function importPeer<T>(name: string): Promise<T> {
  return (await import(name)) as T
}
