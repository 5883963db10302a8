// A real Kafka in KRaft mode on loopback, of one broker or three: their own ports and folders, small heaps, ended by their
// pids. A broker can be killed, frozen and started again with what it had on its disk.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import type { Owner } from './owner.ts'
import { until } from './until.ts'

/** A JVM takes its time to start, most of all three beside each other. */
const START_MS_MAX = 120_000
const JVM = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']

/** What a JVM unpacks, such as the library of LZ4, it cannot remove when it is killed: it goes with the folder of the test. The
 *  counters for other tools would be in /tmp in any case. */
function unpackingIn(dir: string): readonly string[] {
  return [`-Djava.io.tmpdir=${dir}`, '-XX:-UsePerfData']
}

const OUTLIVES_NOT = ['setpriv', '--pdeathsig', 'KILL']
const HAS_SETPRIV = existsSync('/usr/bin/setpriv')
const CLUSTER_ID = 'cGF5YmVsbC10ZXN0cy0wMQ'

export interface KafkaUser {
  name: string
  password: string
  /** PEM of the broker's certificate with its key. */
  certificate: string
}

export class KafkaBrokerProcess {
  readonly id: number
  readonly address: string
  /** With TLS and SASL, where a user is set. */
  readonly secureAddress: string
  readonly #classPath: string
  readonly #properties: string
  #process: ChildProcess | null = null

  constructor(
    id: number,
    ports: { open: number; secure: number },
    classPath: string,
    properties: string,
  ) {
    this.id = id
    this.address = `127.0.0.1:${ports.open}`
    this.secureAddress = `127.0.0.1:${ports.secure}`
    this.#classPath = classPath
    this.#properties = properties
  }

  start(): void {
    const jvm = [...JVM, ...unpackingIn(dirname(this.#properties)), '-cp', this.#classPath]
    const command = ['java', ...jvm, 'kafka.Kafka', this.#properties]
    // It becomes Java, which the kernel ends with this process, however that ends.
    const [program = '', ...args] = [...(HAS_SETPRIV ? OUTLIVES_NOT : []), ...command]
    this.#process = spawn(program, args, { stdio: 'ignore' })
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  get isRunning(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null
  }

  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name)
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process
    this.#process = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  async isListening(): Promise<boolean> {
    const socket = connect(Number(this.address.split(':')[1]), '127.0.0.1')
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    }).then((answer) => {
      socket.destroy()
      return answer === true
    })
  }
}

export async function startKafka(
  t: Owner,
  classPath: string,
  {
    count = 1,
    user,
    properties: others = {},
  }: { count?: number; user?: KafkaUser; properties?: Record<string, string | number> } = {},
): Promise<readonly KafkaBrokerProcess[]> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-kafka-'))
  const nodes = await Promise.all(
    Array.from({ length: count }, async (_, index) => ({
      id: index + 1,
      open: await freePort(),
      secure: await freePort(),
      controller: await freePort(),
    })),
  )
  const voters = nodes.map(({ id, controller }) => `${id}@127.0.0.1:${controller}`).join(',')
  const certificate = join(dir, 'broker.pem')
  if (user) await writeFile(certificate, user.certificate)
  const brokers: KafkaBrokerProcess[] = []
  t.after(async () => {
    await Promise.all(brokers.map((broker) => broker.stop()))
    await rm(dir, { recursive: true, force: true })
  })
  for (const node of nodes) {
    const properties = join(dir, `${node.id}.properties`)
    const lines = {
      ...commonProperties(count),
      ...(user ? secureProperties(user, certificate) : {}),
      ...others,
    }
    const listeners = [
      `OPEN://127.0.0.1:${node.open}`,
      ...(user ? [`SECURE://127.0.0.1:${node.secure}`] : []),
    ].join(',')
    const own = {
      'node.id': node.id,
      'controller.quorum.voters': voters,
      'log.dirs': join(dir, String(node.id)),
      listeners: `${listeners},CONTROLLER://127.0.0.1:${node.controller}`,
      'advertised.listeners': listeners,
    }
    const text = Object.entries({ ...lines, ...own }).map(([name, value]) => `${name}=${value}\n`)
    await writeFile(properties, text.join(''))
    await format(classPath, properties, user)
    brokers.push(new KafkaBrokerProcess(node.id, node, classPath, properties))
  }
  await Promise.all(brokers.map(untilListening))
  return brokers
}

/** Starts it, and again if it ends: while it was away its port may have been given to a connection of another program. */
export async function untilListening(broker: KafkaBrokerProcess): Promise<void> {
  const listens = () => {
    if (!broker.isRunning) broker.start()
    return broker.isListening()
  }
  await until(`broker ${broker.id} listens`, listens, START_MS_MAX)
}

async function format(classPath: string, properties: string, user?: KafkaUser): Promise<void> {
  const scram = (['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const).flatMap((mechanism) =>
    user ? ['--add-scram', `${mechanism}=[name=${user.name},password=${user.password}]`] : [],
  )
  const command = [
    'kafka.tools.StorageTool',
    'format',
    '-t',
    CLUSTER_ID,
    '-c',
    properties,
    ...scram,
  ]
  const jvm = [...JVM, ...unpackingIn(dirname(properties)), '-cp', classPath]
  await promisify(execFile)('java', [...jvm, ...command])
}

function commonProperties(count: number): Record<string, string | number> {
  return {
    'process.roles': 'broker,controller',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'OPEN',
    'listener.security.protocol.map': 'OPEN:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL',
    'offsets.topic.replication.factor': count,
    'offsets.topic.num.partitions': 3,
    'transaction.state.log.replication.factor': count,
    'transaction.state.log.min.isr': 1,
    'default.replication.factor': count,
    'min.insync.replicas': count > 2 ? 2 : 1,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'auto.create.topics.enable': 'false',
    'message.max.bytes': 20 * 1_024 * 1_024,
    'replica.fetch.max.bytes': 20 * 1_024 * 1_024,
    'num.network.threads': 2,
    'num.io.threads': 2,
    'log.cleaner.backoff.ms': 200,
    // By default it takes half of the heap.
    'log.cleaner.dedupe.buffer.size': 4 * 1_024 * 1_024,
  }
}

function secureProperties(user: KafkaUser, certificate: string): Record<string, string> {
  const listener = 'listener.name.secure'
  const module = 'org.apache.kafka.common.security'
  return {
    [`${listener}.ssl.keystore.type`]: 'PEM',
    [`${listener}.ssl.keystore.location`]: certificate,
    [`${listener}.sasl.enabled.mechanisms`]: 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    [`${listener}.scram-sha-256.sasl.jaas.config`]: `${module}.scram.ScramLoginModule required;`,
    [`${listener}.scram-sha-512.sasl.jaas.config`]: `${module}.scram.ScramLoginModule required;`,
    [`${listener}.plain.sasl.jaas.config`]: `${module}.plain.PlainLoginModule required user_${user.name}="${user.password}";`,
  }
}
