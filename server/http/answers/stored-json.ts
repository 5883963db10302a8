// JSON that is sent as it is stored, unparsed: parsing would lose the digits of an amount, and a signature is made over
// exact bytes.

/** A reply, whatever its route says that it sends. */
interface Sendable<R> {
  headers(values: Record<string, string>): R
  send(payload: never): R
}

export function sendJsonText<R extends Sendable<R>>(reply: R, text: string): R {
  return reply.headers({ 'content-type': 'application/json; charset=utf-8' }).send(text as never)
}

/** As bytes, because the framework would add a charset to text. */
export function sendExactBytes<R extends Sendable<R>>(
  reply: R,
  parts: readonly Uint8Array[],
  headers: Record<string, string> = {},
): R {
  const bytes = Buffer.concat(parts)
  return reply.headers({ 'content-type': 'application/json', ...headers }).send(bytes as never)
}
