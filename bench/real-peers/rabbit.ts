// RabbitMQ for Outpost, as Debian ships it: on free ports, with a folder and a node name of its own.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, isOpen } from '../harness/ports.ts'
import { Binary } from './binary.ts'

const START_LIMIT_MS = 60_000
/** What the command of Debian starts; the command itself changes the user, who may not write here. */
const DEBIAN = '/usr/lib/rabbitmq/bin/rabbitmq-server'

export class Rabbit {
  readonly url: string
  readonly #binary: Binary

  private constructor(binary: Binary, port: number) {
    this.#binary = binary
    this.url = `amqp://guest:guest@127.0.0.1:${port}`
  }

  static async start(dir: string): Promise<Rabbit> {
    const port = await freePort()
    const env = {
      RABBITMQ_NODENAME: `paybell-bench-${randomBytes(4).toString('hex')}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_DIST_PORT: String(await freePort()),
      RABBITMQ_MNESIA_BASE: `${dir}/rabbit`,
      RABBITMQ_LOG_BASE: `${dir}/rabbit-log`,
      RABBITMQ_PID_FILE: `${dir}/rabbit.pid`,
      RABBITMQ_ENABLED_PLUGINS_FILE: `${dir}/plugins`,
    }
    const binary = new Binary(existsSync(DEBIAN) ? DEBIAN : 'rabbitmq-server', [], env, dir)
    for (const limit = Date.now() + START_LIMIT_MS; !(await isOpen(port)); await delay(100)) {
      if (Date.now() < limit) continue
      await binary.stop()
      throw new Error('rabbitmq-server did not start')
    }
    return new Rabbit(binary, port)
  }

  cpuSeconds(): number {
    return this.#binary.cpuSeconds()
  }

  stop(): Promise<void> {
    return this.#binary.stop()
  }
}
