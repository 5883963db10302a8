// The calls about a client's address for notices.

import type { Notices } from '../wire/types.ts'
import type { Caller } from './caller.ts'
import { CLIENT_WIDE } from './endpoint-calls.ts'
import type { CallOptions } from './transport.ts'

export type NoticeCalls = ReturnType<typeof noticeCalls>

const NOTICES = '/v1/notices'

export function noticeCalls({ call, get }: Caller) {
  return {
    /**
     * Where notices about your endpoints go; given again, the address is moved and the key rotated.
     *
     * ```js
     * await paybell.notices.set({ callbackUrl: 'https://example.com/notices', sharedKey: 'a-long-random-text' })
     * const { recent } = await paybell.notices.get()
     * for (const { notice, state } of recent) console.log(notice.type, notice.reasons, state)
     * ```
     */
    set: (address: { callbackUrl: string; sharedKey: string }, details?: CallOptions) =>
      call<Notices>('PUT', NOTICES, { ...details, ...CLIENT_WIDE, body: address, isSafe: true }),
    /** The address, and the newest notices. */
    get: (details?: CallOptions) =>
      get<Notices>(NOTICES, undefined, { ...details, ...CLIENT_WIDE }),
    delete: (details?: CallOptions) =>
      call<void>('DELETE', NOTICES, { ...details, ...CLIENT_WIDE }),
  }
}
