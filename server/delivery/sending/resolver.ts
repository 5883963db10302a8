// Names to addresses, through c-ares: A and AAAA, fully qualified, no search domain, no hosts file.
// `dns.lookup` is never used: it runs on libuv's four threads, and four stalled look-ups there would
// stop the whole process.

import { Resolver } from 'node:dns/promises'

/** Every address of a name, forbidden ones too: the connector filters. Rejects when there is none. */
export type ResolveFn = (name: string) => Promise<readonly string[]>

// Some name servers never answer AAAA. Once one family has answered, the other gets this long
// (RFC 8305 §3 asks for a short wait), or it would use up the whole time to connect.
const SECOND_ANSWER_MS = 250

export interface NameSource {
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
}

export function createResolver(
  source: NameSource = new Resolver({ timeout: 1_500, tries: 2 }),
): ResolveFn {
  return async (name) => {
    const ipv4 = source.resolve4(name)
    const ipv6 = source.resolve6(name)
    const first = await Promise.any([ipv4, ipv6])
    const both = Promise.allSettled([ipv4, ipv6])
    const answers = await Promise.race([both, afterMs(SECOND_ANSWER_MS)])
    if (answers === null) return first
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}

function afterMs(waitMs: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, waitMs, null).unref())
}
