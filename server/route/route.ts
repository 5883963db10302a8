// `paybell route` as a whole: one address for all cells. It keeps nothing: any number of them may stand beside each
// other, and one that is restarted knows everything again after one look at each cell.

import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Logger } from 'pino'
import { ServiceError } from '../core/plain/errors.ts'
import { answerClientError, answerConnect } from '../http/answers/client-errors.ts'
import type { Surface } from '../http/routes/server-deps.ts'
import { sendJson, sendProblem } from './answers.ts'
import { CellSender } from './cell-sender.ts'
import { trustedBy } from './forwarded-headers.ts'
import { KnownCells } from './known-cells.ts'
import { isPlainPath } from './plain-path.ts'
import { PublicGuides } from './public-guides.ts'
import type { RouteConfig } from './route-config.ts'
import { RouteMetrics } from './route-metrics.ts'
import { Router } from './router.ts'
import { WaitingBodies } from './waiting-bodies.ts'

export interface RouteOptions {
  config: RouteConfig
  log: Logger
  /** Of each cell, under way at once. */
  requestsMax?: number
  refreshEveryMs?: number
}

const HEADER_BYTES_MAX = 16 * 1_024
/** Answers that are still under way then are cut off. */
const CLOSE_MS_MAX = 10_000
/** Under way at once, over all cells. */
const REQUESTS_MAX = 5_000
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** What a cell with two ports has at the public one alone; public keys are at both of the route, for producers. */
const CLIENT_PATHS =
  /^(?:\/(?:api\/)?v1\/|\/auth\/|\/documents\/|\/\.well-known\/oauth-authorization-server$)/

function isOfOtherPort(path: string, surface: Surface): boolean {
  if (surface === 'public') return path.startsWith('/operator/')
  return surface === 'operator' && CLIENT_PATHS.test(path)
}

export class Route {
  readonly #options: RouteOptions
  readonly #cells: KnownCells
  readonly #waiting: WaitingBodies
  readonly #metrics: RouteMetrics
  readonly #router: Router
  readonly #guides = new PublicGuides()
  readonly #servers: Server[] = []
  #baseUrl: string
  #operatorUrl: string | null = null
  #isDraining = false
  #underWay = 0

  constructor(options: RouteOptions) {
    const { config, log, refreshEveryMs } = options
    this.#options = options
    this.#baseUrl = config.baseUrl ?? ''
    this.#cells = new KnownCells({
      cells: config.cells,
      key: config.key,
      requestsMax: options.requestsMax,
      log,
      ...(refreshEveryMs === undefined ? {} : { refreshEveryMs }),
    })
    this.#waiting = new WaitingBodies()
    this.#metrics = new RouteMetrics(this.#cells, this.#waiting)
    const isTrusted = trustedBy(config.trustedProxies)
    const sender = new CellSender(this.#cells, isTrusted, () => this.#metrics.countFollowed())
    this.#router = new Router({
      cells: this.#cells,
      sender,
      waiting: this.#waiting,
      isTrusted,
      baseUrl: () => this.#baseUrl,
      onFailure: (error) => log.error({ error: String(error) }, 'request.failed'),
    })
  }

  /** The public address; known once it listens. */
  get baseUrl(): string {
    return this.#baseUrl
  }

  get operatorUrl(): string {
    return this.#operatorUrl ?? this.#baseUrl
  }

  async start(): Promise<void> {
    const { port, operatorPort, baseUrl } = this.#options.config
    await this.#cells.start()
    const address = await this.#listen(operatorPort === null ? 'all' : 'public', port)
    if (baseUrl === null) this.#baseUrl = address
    if (operatorPort !== null) this.#operatorUrl = await this.#listen('operator', operatorPort)
  }

  /** Says that it is not ready, and goes on with everything. */
  drain(): void {
    this.#isDraining = true
  }

  async stop(): Promise<void> {
    this.#isDraining = true
    const cutOff = setTimeout(() => {
      for (const server of this.#servers) server.closeAllConnections()
    }, CLOSE_MS_MAX)
    await Promise.all(
      this.#servers.map((server) => {
        const closed = once(server, 'close')
        server.close()
        return closed
      }),
    )
    clearTimeout(cutOff)
    await this.#cells.stop()
  }

  async #listen(surface: Surface, port: number): Promise<string> {
    const { host } = this.#options.config
    const server = createServer(
      {
        maxHeaderSize: HEADER_BYTES_MAX,
        headersTimeout: 10_000,
        // The cell limits how long a body may take, because it knows which may take long.
        requestTimeout: 0,
        keepAliveTimeout: 72_000,
      },
      (request, response) => this.#handle(request, response, surface),
    )
    this.#servers.push(server)
    const context = () =>
      ({ baseUrl: this.#baseUrl, logger: this.#options.log, level: 'info' }) as const
    server.on('clientError', (error, socket) =>
      answerClientError(error, socket as Socket, context()),
    )
    server.on('connect', (_request, socket) => answerConnect(socket as Socket, context()))
    server.listen(port, host)
    await once(server, 'listening')
    const { port: given } = server.address() as AddressInfo
    return `http://${host.includes(':') ? `[${host}]` : host}:${given}`
  }

  #handle(request: IncomingMessage, response: ServerResponse, surface: Surface): void {
    const startedAt = performance.now()
    this.#underWay++
    response.once('close', () => {
      this.#underWay--
      const seconds = (performance.now() - startedAt) / 1_000
      this.#metrics.countAnswer(response.headersSent ? response.statusCode : 499, seconds)
    })
    // While it stops, each connection ends with its next answer.
    if (this.#isDraining) response.setHeader('connection', 'close')
    const [path = '/'] = (request.url ?? '/').split('?', 1)
    if (path === '/livez' || path === '/healthz') sendJson(response, 200, { status: 'alive' })
    else if (path === '/readyz') this.#readyz(response)
    else if (path === '/metrics') void this.#sendMetrics(request, response, surface)
    else if (this.#underWay > REQUESTS_MAX) {
      const busy = new ServiceError('overloaded', 'Too many requests are under way.', {
        retryAfterSeconds: 1,
      })
      sendProblem(response, busy, this.#baseUrl)
    } else if (!isPlainPath(path) || isOfOtherPort(path, surface)) {
      sendProblem(
        response,
        new ServiceError('not-found', 'This service has no such address: /docs lists all of them.'),
        this.#baseUrl,
      )
    } else if (surface === 'public' && this.#guides.has(request, path)) {
      this.#guides.send(request, response, path).catch((error) => this.#fail(response, error))
    } else void this.#router.handle(request, response, surface)
  }

  #fail(response: ServerResponse, error: unknown): void {
    const isOurs = !(error instanceof ServiceError)
    if (isOurs) this.#options.log.error({ error: String(error) }, 'request.failed')
    const failure = isOurs ? new ServiceError('internal', 'Something went wrong.') : error
    sendProblem(response, failure, this.#baseUrl)
  }

  /** One cell away is no reason to take the route away from the others. */
  #readyz(response: ServerResponse): void {
    const reasons = this.#cells.all.flatMap(({ cell }) => {
      const reason = this.#cells.reasonOf(cell)
      return reason === null ? [] : [{ cell, reason: `Cell ${cell} ${reason}.` }]
    })
    const cellsAway = reasons.map(({ cell }) => cell)
    const texts = reasons.map(({ reason }) => reason)
    if (this.#isDraining) texts.unshift('The route is stopping.')
    else if (reasons.length < this.#cells.all.length) {
      sendJson(response, 200, { status: 'ready', cellsAway, reasons: texts })
      return
    }
    const error = new ServiceError('not-ready', `Not ready. ${texts.join(' ')}`, {
      retryAfterSeconds: 2,
    })
    sendProblem(response, error, this.#baseUrl)
  }

  async #sendMetrics(
    request: IncomingMessage,
    response: ServerResponse,
    surface: Surface,
  ): Promise<void> {
    const isOpen = surface === 'operator' || this.#isOwnKey(request.headers.authorization)
    if (surface === 'public' || !isOpen) {
      const code = surface === 'public' ? 'not-found' : 'invalid-token'
      const detail =
        surface === 'public'
          ? 'This service has no such address: /docs lists all of them.'
          : 'Send the key of PAYBELL_ROUTE_KEY.'
      sendProblem(response, new ServiceError(code, detail), this.#baseUrl)
      return
    }
    response.writeHead(200, { 'content-type': METRICS_TYPE }).end(await this.#metrics.text())
  }

  #isOwnKey(authorization = ''): boolean {
    const [given, own] = [authorization, `Bearer ${this.#options.config.key}`].map((text) =>
      Buffer.from(text),
    ) as [Buffer, Buffer]
    return given.length === own.length && timingSafeEqual(given, own)
  }
}
