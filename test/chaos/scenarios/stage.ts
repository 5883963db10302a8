// What a scenario stands on: a real database whose clock can jump, processes of the product, a client with its account,
// receivers over TLS. All of it ends with the scenario.

import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type EmbeddedDatabase, startEmbedded } from '../../../server/embedded/database.ts'
import type { Owner } from '../../support/owner.ts'
import { SAMPLE } from '../../support/payment-sample.ts'
import { readCertificate } from '../../support/raw-receiver.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { ClockJumps } from '../clock-jumps.ts'
import { inherited, ServedProcess } from './served-process.ts'

export interface Ran {
  code: number
  printed: string
}

interface Client {
  clientId: string
  clientSecret: string
  accountId: string
}

const CA_FILE = fileURLToPath(new URL('../../support/certificates/ca.pem', import.meta.url))
export const SHARED_KEY = 'a key of the scenarios'
/** The service reads the database's clock with each renewal, every 3 seconds. */
const CLOCK_READ_MS_MAX = 15_000
const CLOCK_APART_MS_MAX = 2_000

export class Stage implements Owner {
  readonly operatorKey = randomBytes(32).toString('base64url')
  /** A folder of its own. */
  readonly dir: string
  readonly #owner: Owner
  readonly #command: string
  readonly #masterKey = randomBytes(32).toString('base64')
  readonly #clock: ClockJumps | null
  readonly #embedded: EmbeddedDatabase
  readonly #note: (text: string) => void
  readonly #startedAtMs = performance.now()
  #client: Client = { clientId: '', clientSecret: '', accountId: '' }

  private constructor(
    owner: Owner,
    command: string,
    made: { dir: string; clock: ClockJumps | null; embedded: EmbeddedDatabase },
    note: (text: string) => void,
  ) {
    this.#owner = owner
    this.#command = command
    this.dir = made.dir
    this.#clock = made.clock
    this.#embedded = made.embedded
    this.#note = note
  }

  /** `command`: the product's `paybell`. The schema is its own. */
  static async open(owner: Owner, command: string, note: (text: string) => void): Promise<Stage> {
    const dir = await mkdtemp(join(tmpdir(), 'pb-stage-'))
    owner.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }))
    // Started by root, PostgreSQL runs as another user.
    await chmod(dir, 0o755)
    const clock = await ClockJumps.find(owner)
    const embedded = await startEmbedded({
      dataDir: join(dir, 'data'),
      log: () => {},
      maxConnections: 100,
      ...(clock ? { environment: clock.environment } : {}),
    })
    owner.after(() => embedded.stop())
    const stage = new Stage(owner, command, { dir, clock, embedded }, note)
    const { code, printed } = await stage.run('migrate')
    if (code !== 0) throw new Error(`paybell migrate: ${printed}`)
    return stage
  }

  after(task: () => Promise<void> | void): void {
    this.#owner.after(task)
  }

  /** For the reader of the output: what happens now, and what was seen. */
  note(text: string): void {
    const seconds = (performance.now() - this.#startedAtMs) / 1_000
    this.#note(`${seconds.toFixed(1).padStart(6)} s  ${text}`)
  }

  get databaseUrl(): string {
    return this.#embedded.url
  }

  /** Of the postmaster; its children are those of this process. */
  get databasePid(): number {
    return this.#embedded.pid as number
  }

  get accountId(): string {
    return this.#client.accountId
  }

  get environment(): Record<string, string> {
    return {
      DATABASE_URL: this.#embedded.url,
      PAYBELL_MASTER_KEY: this.#masterKey,
      PAYBELL_OPERATOR_KEY: this.operatorKey,
      PAYBELL_ALLOWED_NETWORKS: '127.0.0.0/8',
      PAYBELL_EXTRA_CA_FILE: CA_FILE,
      PAYBELL_REQUESTS_PER_SECOND: '1000',
    }
  }

  /** A process of the product, ready. The first one makes the client. */
  async serve(env: Readonly<Record<string, string>> = {}): Promise<ServedProcess> {
    const served = new ServedProcess(this.#command, { ...this.environment, ...env })
    this.after(async () => void (await served.end('SIGKILL')))
    await served.untilReady()
    if (this.#client.clientId === '') await this.#makeClient(served)
    return served
  }

  /** A command of the product, to its end. */
  run(...args: string[]): Promise<Ran> {
    const options = {
      env: { ...inherited(), ...this.environment },
      maxBuffer: 64 * 1024 * 1024,
      timeout: 120_000,
    }
    return new Promise((resolve) => {
      execFile(process.execPath, [this.#command, ...args], options, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, printed: `${stdout}${stderr}` })
      })
    })
  }

  async query<T extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.#embedded.url })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<T>(sql, values)).rows
    } finally {
      await client.end()
    }
  }

  /** The database's clock is off by so much from now on. */
  async setClock(offsetMs: number): Promise<void> {
    this.note(`the database's clock: ${offsetMs / 1_000} s`)
    await this.#clock?.jumpTo(offsetMs)
  }

  /** The same, and this process reckons with it. */
  async jumpTo(offsetMs: number, served: ServedProcess): Promise<void> {
    await this.setClock(offsetMs)
    await until(
      'the process has read the clock',
      async () => {
        const offMs = (await this.#issuedAtMs(served)) - Date.now() - offsetMs
        return Math.abs(offMs) < CLOCK_APART_MS_MAX
      },
      CLOCK_READ_MS_MAX,
    )
  }

  /** Asks as the operator, for the client's account; fails when the answer is not a 2xx. */
  asOperator<T>(served: ServedProcess, method: string, path: string, body?: object): Promise<T> {
    return this.#ask(served, method, path, this.operatorKey, body)
  }

  async asClient<T>(served: ServedProcess, method: string, path: string, body?: object) {
    return this.#ask<T>(served, method, path, await this.#token(served), body)
  }

  /** A receiver of its own, whose behaviour can change, and an endpoint there. */
  async register(served: ServedProcess): Promise<{ id: string; receiver: Receiver }> {
    const tls = { key: readCertificate('server.key'), cert: readCertificate('good.pem') }
    const receiver = await startReceiver(this, tls)
    const body = { callbackUrl: receiver.url(), sharedKey: SHARED_KEY }
    await this.asClient(served, 'POST', '/v1/webhooks/register', body)
    const { content } = await this.asClient<{ content: { id: string; endpointUrl: string }[] }>(
      served,
      'GET',
      '/v1/webhooks/list?size=100',
    )
    const { id } = content.find(({ endpointUrl }) => endpointUrl === receiver.url()) ?? { id: '' }
    return { id, receiver }
  }

  /** Writes an update of a payment; returns the payment's id. */
  async put(served: ServedProcess, version = 1, id: string = randomUUID()): Promise<string> {
    const body = { ...SAMPLE, id, version, document: undefined, reference: `update ${version}` }
    await this.asOperator(served, 'PUT', `/operator/v1/payments/${id}`, body)
    return id
  }

  async #makeClient(served: ServedProcess): Promise<void> {
    const path = '/operator/v1/clients'
    const client = await this.asOperator<Client>(served, 'POST', path, { name: 'Chaos' })
    const account = await this.asOperator<{ id: string }>(
      served,
      'POST',
      `${path}/${client.clientId}/accounts`,
      { name: 'Main' },
    )
    this.#client = { ...client, accountId: account.id }
  }

  async #token(served: ServedProcess): Promise<string> {
    const { clientId, clientSecret } = this.#client
    const body = { clientId, clientSecret }
    const made = await this.#ask<{ access_token: string }>(served, 'POST', '/auth/token', '', body)
    return made.access_token
  }

  /** What the process takes for now: a token tells it. */
  async #issuedAtMs(served: ServedProcess): Promise<number> {
    const claims = (await this.#token(served)).split('.')[1] ?? ''
    const { iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iat: number }
    return iat * 1_000
  }

  async #ask<T>(
    { baseUrl }: ServedProcess,
    method: string,
    path: string,
    key: string,
    body?: object,
  ): Promise<T> {
    const { accountId } = this.#client
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(accountId === '' ? {} : { accountid: accountId }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(60_000),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (text === '' ? {} : JSON.parse(text)) as T
  }
}
