// Checks a signature without its key: did a receiver see the bytes and the signature that were sent?
// Names the usual mistakes. The client's own page asks the signature doctor instead.

export interface Sent {
  /** The exact bytes. */
  body: Uint8Array
  headers: readonly { name: string; value: string }[]
}

export interface Verdict {
  ok: boolean
  text: string
}

export function compareBody(pasted: string, sent: Uint8Array): Verdict {
  const bytes = new TextEncoder().encode(pasted)
  if (areSame(bytes, sent)) {
    return { ok: true, text: `The body is what was sent, byte for byte (${sent.length} bytes).` }
  }
  const text = new TextDecoder().decode(sent)
  if (pasted.trim() === text) {
    return {
      ok: false,
      text: 'The body has white space around it that was not sent, such as a new line at its end. Verify the raw bytes.',
    }
  }
  if (isSameJson(pasted, text)) {
    return {
      ok: false,
      text: 'The body says the same as JSON, but in other bytes: it was parsed and written again. Verify the raw bytes, before parsing.',
    }
  }
  return {
    ok: false,
    text: `The body is not what was sent: it differs from byte ${firstDifference(bytes, sent)} on (${bytes.length} bytes here, ${sent.length} sent).`,
  }
}

/** `hmacName`: what the endpoint calls the header of its HMAC. */
export function compareSignature(
  pasted: string,
  headers: Sent['headers'],
  hmacName = 'X-Paybell-Hmac',
): Verdict {
  const signatures = [hmacName.toLowerCase(), 'x-paybell-hmac-previous', 'webhook-signature']
  // A whole header line may be pasted as well.
  const wanted = pasted.trim().replace(/^[\w-]+:\s*/, '')
  const sent = headers
    .filter(({ name }) => signatures.includes(name.toLowerCase()))
    .flatMap(({ name, value }) => value.split(' ').map((one) => ({ name, value: one })))
  const exact = sent.find(
    ({ value }) => value === wanted || wanted.split(/\s+/).every((one) => one === value),
  )
  const list = sent.filter(({ value }) => wanted.split(/\s+/).includes(value))
  const found = exact ?? (list.length === wanted.split(/\s+/).length ? list[0] : undefined)
  if (found !== undefined) {
    return found.name.toLowerCase() === 'x-paybell-hmac-previous'
      ? { ok: true, text: 'That is the signature under the key before the last rotation.' }
      : { ok: true, text: `That is the ${found.name} that was sent.` }
  }
  const hmac = sent.find(({ name }) => name.toLowerCase() === signatures[0])?.value ?? ''
  if (hmac !== '' && wanted.toLowerCase() === hmac) {
    return { ok: false, text: `Right, but in upper case: ${hmacName} is lower-case hex.` }
  }
  if (hmac !== '' && toHex(wanted) === hmac) {
    return { ok: false, text: `Right, but in base64: ${hmacName} is lower-case hex.` }
  }
  const bare = wanted.replace(/^v1a?,/, '')
  if (sent.some(({ value }) => value === `v1a,${bare}`)) {
    return {
      ok: false,
      text: 'That is v1a, made with a key of Paybell: verify it with a public key. The HMAC is the entry that begins with v1,.',
    }
  }
  const standard = sent.find(({ name }) => name.toLowerCase() === 'webhook-signature')?.value ?? ''
  if (standard !== '' && `v1,${wanted}` === standard) {
    return { ok: false, text: 'Right, but without v1, in front: webhook-signature has it.' }
  }
  return {
    ok: false,
    text: 'That is no signature of this attempt: another key, another body, or for webhook-signature another timestamp (each attempt has its own).',
  }
}

function areSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

function firstDifference(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return at
  return length
}

function isSameJson(one: string, other: string): boolean {
  try {
    return toSorted(JSON.parse(one)) === toSorted(JSON.parse(other))
  } catch {
    return false
  }
}

function toSorted(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

function toHex(base64: string): string | null {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) return null
  try {
    const bytes = atob(base64.replaceAll('-', '+').replaceAll('_', '/'))
    return [...bytes].map((char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('')
  } catch {
    return null
  }
}
