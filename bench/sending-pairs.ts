// node bench/sending-pairs.ts <folder of another checkout> [rounds] [posts a round]: what a signed callback costs the
// process that sends it, there and here, in CPU and in bytes that it allocates. Both senders run in this process, in
// turns (there, here, here, there), towards one receiver; nothing is stored.

import { createSecretKey, randomBytes } from 'node:crypto'
import { Session } from 'node:inspector/promises'
import { resolve } from 'node:path'
import { UuidMaker } from '../server/core/plain/uuid.ts'
import { Child } from './harness/child.ts'
import { firstHeaders } from './harness/first-headers.ts'
import { PaymentMaker } from './harness/payments.ts'
import { lowerHalf } from './harness/statistics.ts'
import { SHARED_KEY } from './paybell/prepare.ts'

interface Side {
  name: string
  post(number: number): Promise<void>
  close(): Promise<void>
  cpuUs: number[]
  bytes: number[]
}

const [checkout, rounds = '40', posts = '400'] = process.argv.slice(2)
if (checkout === undefined) {
  console.log('node bench/sending-pairs.ts <folder of another checkout> [rounds] [posts a round]')
  process.exit(1)
}
/** As many as Paybell has under way to one origin. */
const UNDER_WAY = 64
const WARM_UP_POSTS = 5_000
/** Rounds in which allocations are sampled: their CPU is not counted. */
const SAMPLED_ROUNDS = 6
const SAMPLED_EVERY_BYTES = 1_024

const ids = new UuidMaker(() => Date.now(), randomBytes)
const payments = new PaymentMaker('sending-pairs')
/** Made beforehand: what a body costs is not the sender's. */
const bodies = Array.from({ length: 100 }, (_, number) => [Buffer.from(payments.callback(number))])
const receiver = new Child(new URL('./harness/receiver.ts', import.meta.url))
const url = `http://127.0.0.1:${await receiver.call<number>('listen')}/callbacks`
const sides = [
  await open('there', checkout),
  await open('here', new URL('..', import.meta.url).pathname),
]
let number = 0
for (const side of sides) await run(side, WARM_UP_POSTS)
for (let round = 0; round < Number(rounds); round++) {
  for (const side of inTurn(round)) {
    const before = process.cpuUsage()
    await run(side, Number(posts))
    const { user, system } = process.cpuUsage(before)
    side.cpuUs.push((user + system) / Number(posts))
  }
}
for (let round = 0; round < SAMPLED_ROUNDS; round++) {
  for (const side of inTurn(round)) side.bytes.push(await sample(side))
}
for (const side of sides) {
  console.log(
    `${side.name}: CPU µs a POST ${spread(side.cpuUs, 1)}; bytes allocated ${spread(side.bytes, 0)}`,
  )
  await side.close()
}
await receiver.stop()

function inTurn(round: number): Side[] {
  return round % 2 === 0 ? sides : sides.toReversed()
}

/** Headers and signatures are made as here for both: only the sender differs. */
async function open(name: string, root: string): Promise<Side> {
  const { CallbackClient }: typeof import('../server/delivery/sending/callback-client.ts') =
    await import(resolve(root, 'server/delivery/sending/callback-client.ts'))
  const client = new CallbackClient({ policy: { loopbackAllowed: true, allowedNetworks: [] } })
  const keys = { current: createSecretKey(Buffer.from(SHARED_KEY)), previous: null }
  const post = async (number: number) => {
    const body = bodies[number % bodies.length] as Buffer[]
    const eventId = ids.next()
    const headers = firstHeaders(eventId, keys, body)
    const { outcome } = await client.send({ url, clientKey: 1, headers, body })
    if (outcome.kind !== 'answered' || outcome.status !== 200) throw new Error(outcome.kind)
  }
  return { name, post, close: () => client.close(), cpuUs: [], bytes: [] }
}

async function run(side: Side, posts: number): Promise<void> {
  let left = posts
  const sender = async () => {
    while (left-- > 0) await side.post(number++)
  }
  await Promise.all(Array.from({ length: UNDER_WAY }, sender))
}

/** What was allocated on the heap, whether or not it is still there. */
async function sample(side: Side): Promise<number> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: SAMPLED_EVERY_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  await run(side, Number(posts))
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  const sum = (node: typeof profile.head): number =>
    node.children.reduce((bytes, child) => bytes + sum(child), node.selfSize)
  return sum(profile.head) / Number(posts)
}

function spread(figures: readonly number[], digits: number): string {
  const [least, quarter, median] = lowerHalf(figures).map((figure) => figure.toFixed(digits))
  return `least ${least}, quarter ${quarter}, median ${median}`
}
