// The extra header that a subscription may ask for (decisions, Subscriptions §4). It must never
// replace a header of ours, change how a request is framed, or open a cloud's metadata service.
// Names not listed here are allowed, `Authorization` above all: it is what people need this for.

const HEADER_VALUE_CHARACTERS_MAX = 1024

export const HEADER_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'
// Printable ASCII. Node itself lets TAB and é pass, and a careless latin-1 makes a line feed of U+010A.
export const HEADER_VALUE_PATTERN = '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$'
const NAME = new RegExp(HEADER_NAME_PATTERN)
const VALUE = new RegExp(HEADER_VALUE_PATTERN)

const REFUSED_NAMES = new Set([
  // hop-by-hop (RFC 9110 §7.6.1) and framing
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  // who is asking, and by which way
  'user-agent',
  'cookie',
  'set-cookie',
  'forwarded',
  'via',
  // CGI makes HTTP_PROXY of it, by which the receiver's own requests would leave (CVE-2016-5385)
  'proxy',
  // what servers take the word of a proxy in front of them for: the caller's address, the path, its certificate
  'true-client-ip',
  'client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-original-url',
  'x-original-host',
  'x-original-uri',
  'x-rewrite-url',
  'x-http-method-override',
  'client-cert',
  'client-cert-chain',
  // replayed and upgraded requests (RFC 8470, RFC 9113)
  'early-data',
  'http2-settings',
  'traceparent',
  'tracestate',
])

const REFUSED_PREFIXES = [
  'content-',
  'proxy-',
  'x-forwarded-',
  'x-ssl-',
  'ssl-client',
  'x-client-cert',
  'x-tls-client',
  // our own
  'webhook-',
  'x-paybell-',
  // headers that cloud metadata services ask for (an SSRF aid, CVE-2025-6454)
  'metadata',
  'x-aws-',
  'x-goog',
  'x-ms-',
  'x-azure-',
]

/** Null when a subscription may use this name. */
export function checkHeaderKey(text: string): { code: string; detail: string } | null {
  if (!NAME.test(text)) {
    return {
      code: 'invalid-header-name',
      detail:
        'Use 1 to 64 letters, digits, hyphens and underscores, beginning with a letter or digit.',
    }
  }
  // Many receivers fold `_` and `-` into one: `Webhook_Id` would pass for ours there.
  const name = text.toLowerCase().replaceAll('_', '-')
  if (REFUSED_NAMES.has(name) || REFUSED_PREFIXES.some((prefix) => name.startsWith(prefix))) {
    return {
      code: 'forbidden-header',
      detail: 'This header is set by Paybell or by the connection itself; choose another name.',
    }
  }
  return null
}

/** Null when the value can be sent as it is. The detail never repeats it: it is a secret. */
export function checkHeaderValue(text: string): { code: string; detail: string } | null {
  if (text.length > HEADER_VALUE_CHARACTERS_MAX) {
    return {
      code: 'too-long',
      detail: `Give a value of at most ${HEADER_VALUE_CHARACTERS_MAX} characters.`,
    }
  }
  if (!VALUE.test(text)) {
    return {
      code: 'invalid-header-value',
      detail: 'Use 1 to 1024 printable ASCII characters, with no space at either end.',
    }
  }
  return null
}
