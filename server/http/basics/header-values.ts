// Headers as they were sent. Node joins repeated headers or silently drops all but one; checks that a second
// value must not fool read them here.

import type { FastifyRequest } from 'fastify'

/** The one value that was sent under this name; undefined when there was none, or more than one. */
export function onlyHeaderValue(request: FastifyRequest, name: string): string | undefined {
  const { rawHeaders } = request.raw
  let value: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] as string
    if (given.length !== name.length || (given !== name && given.toLowerCase() !== name)) continue
    if (value !== undefined) return undefined
    value = rawHeaders[at + 1]
  }
  return value
}

/** Every value that was sent under this name, which is given in lower case. */
export function headerValues(request: FastifyRequest, name: string): string[] {
  const { rawHeaders } = request.raw
  const values: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] as string
    // Most names differ in length, which is cheaper to compare than lower case.
    if (given.length === name.length && given.toLowerCase() === name) {
      values.push(rawHeaders[at + 1] as string)
    }
  }
  return values
}
