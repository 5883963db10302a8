// Reads `text/event-stream` (WHATWG HTML, "Server-sent events"): as much of it as Paybell sends.

export interface ServerSentEvent {
  event: string
  data: string
}

/** A line longer than this is none of ours; without a limit it would be kept until it ends. */
const LINE_CHARACTERS_MAX = 1_000_000

export async function* readServerSentEvents(
  stream: ReadableStream<Uint8Array> | null,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  let event = 'message'
  let data: string[] = []
  for await (const chunk of chunksOf(stream)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() as string
    if (rest.length > LINE_CHARACTERS_MAX) throw new Error('the stream sends a line without end')
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') }
        event = 'message'
        data = []
        continue
      }
      // A line that begins with a colon is a comment: it only keeps the connection alive.
      const [, name, value] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? []
      if (name === 'event') event = value ?? ''
      else if (name === 'data') data.push(value ?? '')
    }
  }
}

/** Not every browser can iterate over a stream itself. */
async function* chunksOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (stream === null) return
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    // Left early, it gives its connection back.
    await reader.cancel().catch(() => {})
  }
}
