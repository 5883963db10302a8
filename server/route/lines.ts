// Lines of NDJSON, one at a time, from bytes as they come. Long ones are not kept: null stands for them.

const NEWLINE = 0x0a

export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  lineBytesMax: number,
): AsyncGenerator<Buffer | null, void> {
  let parts: Uint8Array[] = []
  let length = 0
  const take = (): Buffer | null => {
    const line = length > lineBytesMax ? null : Buffer.concat(parts, length)
    parts = []
    length = 0
    return line
  }
  const keep = (part: Uint8Array) => {
    length += part.length
    if (length <= lineBytesMax) parts.push(part)
    else parts = []
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      start = end + 1
      yield take()
    }
    if (start < chunk.length) keep(chunk.subarray(start))
  }
  if (length > 0) yield take()
}
