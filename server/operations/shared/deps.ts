// What every operation may use, made once in app.ts and passed down.

import type { Pool } from 'pg'
import type { Config } from '../../config/config.ts'
import type { Policies } from '../../config/policies.ts'
import type { AttemptResult, CallbackRequest } from '../../core/delivery/callback-request.ts'
import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import type { TargetPolicy } from '../../core/network/network-rules.ts'
import type { Clock } from '../../core/plain/clock.ts'
import type { ServiceKey, SigningPair } from '../../core/signatures/asymmetric-signature.ts'
import type { Sealer } from '../../store/secrets/sealing.ts'
import type { KeyTable } from '../../store/secrets/signing-keys.ts'
import type { CallbackLinks } from './callback-links.ts'
import type { EndpointChanges } from './endpoint-changes.ts'

export interface Deps {
  pool: Pool
  clock: Clock
  config: Config
  /** Read for each decision and never kept, because the sandbox replaces them at run time. */
  policies: Policies
  sealer: Sealer
  /** The service's own keys, which sign callbacks and what it states (operations/access/webhook-keys). */
  webhookKeys: ServiceKeys
  /** The keys of a table that are not the service's own, when they are others than before (access/trusted-keys). */
  onUntrustedKeys?(table: KeyTable, kids: readonly string[]): void
  /** Kept hours of an endpoint's statements that no holder of the master key has written; they are counted again. */
  onForgedHours?(endpointId: string, count: number): void
  /** Which addresses callbacks may reach. */
  targets: TargetPolicy
  /** A new UUIDv7 for the present moment. */
  newId(): string
  engine: EngineNotices
  /** One change of a client's endpoints at a time. */
  endpointChanges: EndpointChanges
  /**
   * Sends through the guarded client, for tests and checks. Ends at its deadline. Rejects only for a
   * reason of ours, with a ServiceError: then nothing was sent.
   */
  send(request: CallbackRequest): Promise<AttemptResult>
  /** What is remembered of the service's certificates is older than what has just been committed. */
  shownCertificates: { forget(): void }
  /** Where an endpoint fetches the file of an event. */
  callbackLinks: CallbackLinks
}

export interface ServiceKeys {
  /** Those that sign callbacks now, the newest first; with `atMs`, those of them that signed then. */
  signers(atMs?: number): Promise<readonly SigningPair[]>
  /** Of now and of before, the newest first. */
  publicKeys(): Promise<readonly ServiceKey[]>
  /** A statement is a compact JWS, whose `typ` names its kind. */
  signStatement(typ: string, claims: object): Promise<string>
}

/** How operations notify the delivery engine, always after their commit. */
export interface EngineNotices {
  /**
   * Announces a transaction that may make new deliveries. The returned function takes them once they are
   * committed, or none: by then the engine may have found, and even delivered, some by itself.
   */
  beginAccept(): (deliveries: readonly HandedOff[]) => void
  /** The endpoint was paused, deleted, has another key, header or address, or something that it was owed has ended. */
  endpointChanged(clientKey: number, endpointId: string, shard: number): void
  /** It was resumed, or what it is owed made due: it is said to be mended, and is probed at once if it was down. */
  endpointRetried(clientKey: number, endpointId: string, shard: number, retriedAtMs: number): void
}
