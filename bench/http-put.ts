// `node bench/http-put.ts 40 400 ../before .`: what HTTP costs of a PUT, apart from the store: the whole server of each
// checkout with its hooks, checks, metrics and log, over sockets, and a gatherer that answers one turn of the loop later.
// A bare Fastify route and a bare `node:http` stand beside them. Slices in turns, processor time of the server's process.

import { resolve } from 'node:path'
import { Child } from './harness/child.ts'
import { LeanClient } from './harness/lean-client.ts'
import { PaymentMaker } from './harness/payments.ts'
import { ACCOUNT_ID, OPERATOR_KEY } from './harness/put-server.ts'

/** As many as `pairs put` has. */
const CONNECTIONS = 256

async function compare(slices: number, count: number, kinds: readonly string[]): Promise<void> {
  const sides: Side[] = []
  try {
    for (const kind of kinds) sides.push(await Side.open(kind))
    for (const side of sides) await side.slice(5_000) // To warm up.
    for (let at = 0; at < slices; at++) {
      const order = at % 2 === 0 ? sides : sides.toReversed()
      for (const side of order) side.costs.push(await side.slice(count))
    }
    for (const side of sides) console.log(describe(side))
  } finally {
    for (const side of sides) await side.close()
  }
}

class Side {
  readonly kind: string
  readonly costs: number[] = []
  readonly #server: Child
  readonly #client: LeanClient
  readonly #maker = new PaymentMaker('http-put')
  #number = 0

  private constructor(kind: string, server: Child, url: string) {
    this.kind = kind
    this.#server = server
    this.#client = new LeanClient(url)
  }

  static async open(kind: string): Promise<Side> {
    const server = new Child(new URL('./harness/put-server.ts', import.meta.url), { args: [kind] })
    return new Side(kind, server, await server.call('listen'))
  }

  /** Processor time of a PUT, in µs. */
  async slice(count: number): Promise<number> {
    const end = this.#number + count
    const before = await this.#server.call<number>('cpuUs')
    const callers = Array.from({ length: CONNECTIONS }, async () => {
      while (this.#number < end) await this.#put(this.#number++)
    })
    await Promise.all(callers)
    return ((await this.#server.call<number>('cpuUs')) - before) / count
  }

  close(): Promise<void> {
    this.#client.close()
    return this.#server.stop()
  }

  async #put(number: number): Promise<void> {
    const { status } = await this.#client.ask(
      'PUT',
      `/operator/v1/payments/${this.#maker.id(number)}`,
      `authorization: Bearer ${OPERATOR_KEY}\r\naccountid: ${ACCOUNT_ID}\r\ncontent-type: application/json\r\n`,
      this.#maker.body(number),
    )
    if (status !== 201) throw new Error(`${this.kind} answered ${status}`)
  }
}

function describe({ kind, costs }: Side): string {
  const sorted = costs.toSorted((one, other) => one - other)
  const at = (share: number) =>
    (sorted[Math.floor(share * (sorted.length - 1))] as number).toFixed(1)
  return `${kind}: µs a PUT, least ${at(0)}, quarter ${at(0.25)}, median ${at(0.5)}`
}

const [slices, count, ...checkouts] = process.argv.slice(2)
if (!Number(slices) || !Number(count) || !checkouts[0]) {
  console.log('node bench/http-put.ts <slices> <PUTs a slice> <checkout> [<checkout>]')
  process.exit(1)
}
await compare(Number(slices), Number(count), [
  ...checkouts.map((checkout) => resolve(checkout)),
  'bare Fastify',
  'bare node:http',
])
