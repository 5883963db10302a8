// HTTP/1.1 by hand for the load generator: one request at a time on each connection, bytes written as
// they are, of the answer only what is needed. The generator shares two cores with what it measures, and
// a whole client took as much processor time for a PUT as the service has for all of its work.

import { connect, type Socket } from 'node:net'

export interface Answer {
  status: number
  body: Buffer
}

const HEAD_END = Buffer.from('\r\n\r\n')

class Connection {
  readonly #socket: Socket
  #parts: Buffer[] = []
  #size = 0
  /** Of the answer that is arriving: where its body begins, and how long it is with its head. */
  #bodyAt = -1
  #wanted = 0
  #status = 0
  #settle: { resolve(answer: Answer): void; reject(error: Error): void } | null = null
  isBroken = false

  constructor(host: string, port: number) {
    this.#socket = connect({ host, port, noDelay: true })
    this.#socket.on('data', (chunk) => this.#take(chunk))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  ask(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#socket.write(request)
    })
  }

  end(): void {
    this.isBroken = true
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#parts.push(chunk)
    this.#size += chunk.length
    if (this.#bodyAt < 0) {
      const bytes = this.#joined()
      const end = bytes.indexOf(HEAD_END)
      if (end < 0) return
      const head = bytes.toString('latin1', 0, end)
      const length = /content-length: *(\d+)/i.exec(head)
      if (length === null) {
        this.#fail(new Error(`an answer without a length: ${head.slice(0, 200)}`))
        return
      }
      this.#status = Number(head.slice(9, 12))
      this.#bodyAt = end + HEAD_END.length
      this.#wanted = this.#bodyAt + Number(length[1])
    }
    if (this.#size < this.#wanted) return
    const body = this.#joined().subarray(this.#bodyAt, this.#wanted)
    const settle = this.#settle
    this.#settle = null
    this.#parts = []
    this.#size = 0
    this.#bodyAt = -1
    settle?.resolve({ status: this.#status, body })
  }

  #joined(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts, this.#size)]
    return this.#parts[0] as Buffer
  }

  #fail(error: Error): void {
    this.isBroken = true
    this.#socket.destroy()
    this.#settle?.reject(error)
    this.#settle = null
  }
}

export class LeanClient {
  readonly #host: string
  readonly #port: number
  readonly #hostHeader: string
  #idle: Connection[] = []
  readonly #all = new Set<Connection>()

  constructor(baseUrl: string) {
    const url = new URL(baseUrl)
    this.#host = url.hostname
    this.#port = Number(url.port)
    this.#hostHeader = url.host
  }

  /** `headers`: whole lines, each with its line end. */
  async ask(method: string, path: string, headers: string, body: string): Promise<Answer> {
    const connection = this.#take()
    const length = Buffer.byteLength(body)
    const answer = await connection.ask(
      `${method} ${path} HTTP/1.1\r\nhost: ${this.#hostHeader}\r\n${headers}content-length: ${length}\r\n\r\n${body}`,
    )
    this.#idle.push(connection)
    return answer
  }

  close(): void {
    for (const connection of this.#all) connection.end()
    this.#all.clear()
    this.#idle = []
  }

  #take(): Connection {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (!idle.isBroken) return idle
      this.#all.delete(idle)
    }
    const connection = new Connection(this.#host, this.#port)
    this.#all.add(connection)
    return connection
  }
}
