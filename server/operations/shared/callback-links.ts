// The links that callbacks carry in place of a file (core/payments/document-link). One is made once, when its first attempt is
// prepared, and kept: whatever becomes of the service's address and its master keys, the body keeps its bytes.

import type { Pool } from 'pg'
import { DOCUMENTS_PATH, linkedText } from '../../core/payments/document-link.ts'
import { GatheredReads } from '../../store/connection/gathered-reads.ts'
import { findKeptLink, keepLinks, type LinkKey } from '../../store/payments/document-links.ts'
import type { Sealer } from '../../store/secrets/sealing.ts'

export class CallbackLinks {
  readonly #pool: Pool
  readonly #sealer: Pick<Sealer, 'signLink'>
  readonly #baseUrl: () => string
  readonly #kept: GatheredReads<LinkKey, string | null>

  constructor(pool: Pool, sealer: Pick<Sealer, 'signLink'>, baseUrl: () => string) {
    this.#pool = pool
    this.#sealer = sealer
    this.#baseUrl = baseUrl
    this.#kept = new GatheredReads({
      read: async (keys) =>
        keepLinks(
          pool,
          keys.map((key) => ({ ...key, url: this.#make(key) })),
        ),
      keyOf: ({ clientKey, eventId, endpointId }) => `${clientKey} ${eventId} ${endpointId}`,
      perReadMax: 200,
      readsMax: 2,
      soon: queueMicrotask,
    })
  }

  /**
   * The one to send, always the same. Rejects before the service knows its address: an attempt then waits, instead of
   * sending a link that leads nowhere.
   */
  async toSend(key: LinkKey): Promise<string> {
    // A statement does not see what another has inserted while it ran: the next one does.
    return (await this.#kept.ask(key)) ?? ((await this.#kept.ask(key)) as string)
  }

  /** The one that was sent; null when none was, or the version before did it, which kept none. */
  find(key: LinkKey): Promise<string | null> {
    return findKeptLink(this.#pool, key)
  }

  /** The one that was sent, or the one that would be now. */
  async toShow(key: LinkKey): Promise<string> {
    return (await this.find(key)) ?? this.#make(key)
  }

  #make(key: LinkKey): string {
    const base = this.#baseUrl()
    if (base === '') throw new Error('the address of the service is not known yet')
    const text = linkedText(key)
    return `${base}${DOCUMENTS_PATH}/${text}.${this.#sealer.signLink(text)}`
  }
}
