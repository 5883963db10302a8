// A client of HTTP in a thread of its own, so that the CPU time of this thread is that of the service alone.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Owner } from './owner.ts'

export interface FarRequest {
  method: string
  url: string
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array
}

export interface FarAnswer {
  status: number
  /** The beginning of its body. */
  text: string
}

const CLIENT = `
const { parentPort } = require('node:worker_threads')
const { request } = require('node:http')
const TEXT_MAX = 2_000
parentPort.on('message', ({ method, url, headers, body }) => {
  const sent = request(url, { method, headers, agent: false }, (answer) => {
    let text = ''
    answer.on('data', (chunk) => { if (text.length < TEXT_MAX) text += chunk })
    answer.on('close', () => parentPort.postMessage({ status: answer.statusCode, text: text.slice(0, TEXT_MAX) }))
    if ((answer.headers['content-type'] ?? '').startsWith('text/event-stream')) sent.destroy()
  })
  sent.on('error', (error) => parentPort.postMessage({ status: 0, text: String(error) }))
  sent.end(body)
})
`

export class FarClient {
  readonly #worker = new Worker(CLIENT, { eval: true })

  constructor(t: Owner) {
    t.after(async () => {
      await this.#worker.terminate()
    })
  }

  /** One at a time. Status 0: no answer came. */
  async ask(request: FarRequest): Promise<FarAnswer> {
    this.#worker.postMessage(request)
    const [answer] = await once(this.#worker, 'message')
    return answer as FarAnswer
  }
}
