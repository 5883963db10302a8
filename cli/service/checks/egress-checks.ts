// Whether this machine reaches the endpoints: `paybell doctor` opens a connection to each host as a callback would.

import { type Config, targetsOf } from '../../../server/config/config.ts'
import { outcomeText } from '../../../server/core/delivery/outcome-words.ts'
import type { Check } from '../../basics/doctor-check.ts'
import { connectAsCallback } from './try-connection.ts'

/** Hosts of endpoints that are tried. */
const HOSTS_MAX = 10

/** Where the endpoints are not known, that is said: "none" means that none is registered. */
export async function* checkEgress(
  config: Config,
  given: readonly string[],
  endpointUrls: readonly string[] | null,
): AsyncGenerator<Check> {
  const urls = [...given, ...oneForEachHost(endpointUrls ?? [])]
  if (urls.length === 0) {
    const why =
      endpointUrls === null ? 'the endpoints are not known here' : 'there is no endpoint to try'
    yield { name: 'egress', status: 'skipped', detail: `${why}; name one with --egress URL` }
    return
  }
  const policy = targetsOf(config)
  const attempts = urls.map(async (url) => ({
    origin: new URL(url).origin,
    failure: await connectAsCallback(url, { policy, extraCa: config.extraCa ?? undefined }),
  }))
  for (const { origin, failure } of await Promise.all(attempts)) {
    yield failure === null
      ? { name: 'egress', status: 'ok', detail: `${origin} can be reached` }
      : {
          name: 'egress',
          status: 'warning',
          detail: `${origin} cannot be reached: ${outcomeText(failure)}`,
          remedy: REMEDIES[failure] ?? 'Check the firewall, and whether the receiver runs.',
        }
  }
}

/** Listeners have no address: their callbacks are fetched. */
function oneForEachHost(urls: readonly string[]): readonly string[] {
  const byHost = new Map(
    urls.filter((url) => /^https?:/.test(url)).map((url) => [new URL(url).host, url]),
  )
  return [...byHost.values()].slice(0, HOSTS_MAX)
}

const REMEDIES: Readonly<Record<string, string>> = {
  'dns-error': 'Its name has no address here: check the name and the DNS of this machine.',
  'tls-error': 'Its certificate is not valid, or too old in kind: renew it.',
  'tls-name': 'Its certificate is for another name: check the address.',
  'tls-authority':
    'No authority that is trusted here has signed its certificate: see PAYBELL_EXTRA_CA_FILE.',
  'tls-too-costly':
    'Its certificates cost too much to verify: it should serve a usual chain, with usual keys.',
  'blocked-address': 'It is a private address: see PAYBELL_ALLOWED_NETWORKS if that is meant.',
}
