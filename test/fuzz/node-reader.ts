// What Node's own client makes of an answer: the measure of ours. It is handed the bytes by a stream, at once, then the
// end; no socket is opened.

import { request } from 'node:http'
import { Duplex } from 'node:stream'

export interface Reading {
  /** 0: refused before there was a whole head. */
  status: number
  retryAfter: string | undefined
  body: string
  /** Read to its end, and nothing was wrong. */
  isWhole: boolean
  /** Whole, and the connection may carry another request. */
  isKept: boolean
}

class Wire extends Duplex {
  override _read(): void {}
  override _write(_bytes: Buffer, _encoding: string, callback: () => void): void {
    callback()
  }
  // Node's client asks these of a socket.
  setTimeout(): this {
    return this
  }
  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
}

export function readByNode(answer: Buffer): Promise<Reading> {
  const reading: Reading = {
    status: 0,
    retryAfter: undefined,
    body: '',
    isWhole: false,
    isKept: false,
  }
  const wire = new Wire()
  return new Promise((resolve) => {
    const end = () => {
      wire.destroy()
      resolve(reading)
    }
    const asked = request({
      method: 'POST',
      host: 'x',
      headers: { connection: 'keep-alive' },
      createConnection: () => wire as never,
    })
    // Node drops what is beyond 1,000 headers; we read them all, or none.
    asked.maxHeadersCount = 0
    asked.on('error', end)
    asked.on('close', end)
    asked.on('upgrade', end)
    asked.on('response', (response) => {
      reading.status = response.statusCode ?? 0
      reading.retryAfter = response.headersDistinct['retry-after']?.[0]
      response.on('data', (bytes: Buffer) => {
        reading.body += bytes.toString('latin1')
      })
      response.on('end', () => {
        reading.isWhole = response.complete
        reading.isKept = response.complete && asked.shouldKeepAlive
        end()
      })
      response.on('error', end)
      response.on('aborted', end)
    })
    asked.end()
    setImmediate(() => {
      wire.push(answer)
      wire.push(null)
    })
  })
}
