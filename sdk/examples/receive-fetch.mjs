// For Deno, Bun, Cloudflare Workers and whoever else takes an object with a fetch:
// `bun receive-fetch.mjs`, `deno serve receive-fetch.mjs`.

import { createReceiver } from '@paybell/sdk'

export default {
  fetch: createReceiver({
    sharedKey: () =>
      globalThis.process?.env.SHARED_KEY ?? 'a-long-random-text-that-only-we-two-know',
    onPayment: (payment, { event }) => console.log(event, payment.id),
  }),
}
