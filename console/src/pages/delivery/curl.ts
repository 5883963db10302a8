// A callback as a command to paste. The exact bytes matter, because the signature is over them: a small
// body is written out, one with a file comes from the API and goes on through a pipe.

export interface CurlRequest {
  url: string
  headers: readonly { name: string; value: string }[]
  /** The exact body as text; null when it has to be fetched. */
  body: string | null
  /** Where it is fetched, and the variable that holds the credential for that. */
  bodyUrl: string
  credential: string
}

const INLINE_CHARACTERS_MAX = 8_192

export function toCurl({ url, headers, body, bodyUrl, credential }: CurlRequest): string {
  const flags = headers.map(({ name, value }) => `-H ${quote(`${name}: ${value}`)}`)
  const isInline = body !== null && body.length <= INLINE_CHARACTERS_MAX
  const post = [
    `curl -i ${quote(url)}`,
    ...flags,
    isInline ? `--data-binary ${quote(body)}` : '--data-binary @-',
  ].join(' \\\n  ')
  if (isInline) return post
  return `curl -s ${quote(bodyUrl)} -H "Authorization: Bearer $${credential}" | \\\n${post}`
}

/** For a POSIX shell: within single quotes nothing means anything but the quote itself. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
