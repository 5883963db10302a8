// Which addresses may be registered for callbacks (decisions, Webhooks §7). Pure and without DNS:
// registration works offline, and a name's answers change later anyway; sending checks those.
// The raw text is judged first, because `new URL` silently repairs much of what must be refused.

import { hasControlCharacter } from '../plain/text.ts'
import {
  isAddress,
  isAllowedAddress,
  isLoopbackAddress,
  type TargetPolicy,
} from './network-rules.ts'

export const CALLBACK_URL_CHARACTERS_MAX = 2048

export type CallbackUrlCode =
  | 'too-long'
  | 'malformed-url'
  | 'https-required'
  | 'user-info'
  | 'fragment'
  | 'invalid-port'
  | 'forbidden-host'
  | 'non-public-address'

export type CallbackUrlCheck =
  /** Two callback URLs are the same when their `href` is. */
  { ok: true; href: string; url: URL } | { ok: false; code: CallbackUrlCode; detail: string }

// Names that mean "this machine", "this network" or "this cloud" wherever they are resolved.
// example.com, .example and .test stay registrable: people try things out with them.
const REFUSED_NAMES = [
  'localhost',
  'local',
  'localdomain',
  'internal',
  'home.arpa',
  'onion',
  'metadata.goog',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.tencentyun.com',
]

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

export function checkCallbackUrl(text: string, policy: TargetPolicy): CallbackUrlCheck {
  const fault = textFault(text, policy)
  if (fault !== null) return refusal(fault)
  const url = URL.parse(text)
  if (url === null) return refusal('malformed-url')
  const code =
    hostFault(toHost(url), url.protocol, policy) ?? (url.port === '0' ? 'invalid-port' : null)
  return code === null ? { ok: true, href: url.href, url } : refusal(code)
}

/** The host as DNS and certificates know it: no brackets, no final dot. */
function toHost(url: URL): string {
  const { hostname } = url
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}

function textFault(text: string, policy: TargetPolicy): CallbackUrlCode | null {
  if (text.length > CALLBACK_URL_CHARACTERS_MAX) return 'too-long'
  if (hasControlCharacter(text) || /[\s\\]/.test(text) || !text.isWellFormed()) {
    return 'malformed-url'
  }
  if (text.includes('#')) return 'fragment'
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return 'malformed-url'
  // Whether http:// leads to this machine is judged after parsing, and only in the sandbox.
  if (!(policy.loopbackAllowed ? /^https?:/i : /^https:/i).test(text)) return 'https-required'
  const authority = /^https?:\/\/([^/?]+)/i.exec(text)?.[1]
  if (authority === undefined) return 'malformed-url'
  if (authority.includes('@')) return 'user-info'
  const port = /:(\d+)$/.exec(authority)?.[1]
  return port !== undefined && Number(port) > 65_535 ? 'invalid-port' : null
}

function hostFault(host: string, protocol: string, policy: TargetPolicy): CallbackUrlCode | null {
  if (policy.loopbackAllowed && (host === 'localhost' || isLoopbackAddress(host))) return null
  if (protocol !== 'https:') return 'https-required'
  if (isAddress(host)) return isAllowedAddress(host, policy) ? null : 'non-public-address'
  return nameFault(host)
}

function nameFault(host: string): CallbackUrlCode | null {
  const labels = host.split('.')
  if (host.length > 253 || !labels.every((label) => LABEL.test(label))) return 'malformed-url'
  const isRefused = REFUSED_NAMES.some((name) => host === name || host.endsWith(`.${name}`))
  // A resolver completes a name without a dot by its search domain: it would mean a neighbour.
  return isRefused || labels.length === 1 ? 'forbidden-host' : null
}

// Sentences that say what to do. They never repeat the URL: its query may be a credential.
const DETAILS: Record<CallbackUrlCode, string> = {
  'too-long': `Give a URL of at most ${CALLBACK_URL_CHARACTERS_MAX} characters, counted after percent-encoding.`,
  'malformed-url':
    'Give an absolute URL such as https://example.com/callbacks, without spaces, control characters or backslashes.',
  'https-required': 'Use https:// so that callbacks are encrypted on their way.',
  'user-info': 'Remove the user name and password before the host.',
  fragment: 'Remove the # and what follows it: a fragment is never sent.',
  'invalid-port': 'Use a port from 1 to 65535, or leave it out.',
  'forbidden-host':
    'Use a fully qualified public host name: local, internal and metadata names are not allowed.',
  'non-public-address':
    'Use a public address: private, loopback, link-local and reserved ones are not allowed.',
}

function refusal(code: CallbackUrlCode): CallbackUrlCheck {
  return { ok: false, code, detail: DETAILS[code] }
}
