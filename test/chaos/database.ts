// The database of a run: a real embedded PostgreSQL with durable settings, started again when it is
// killed, and observers inside it: triggers that note who took which shard, when an event came, when a
// delivery ended and when an endpoint was paused, resumed or disabled. They note the true time: the database's own clock may
// jump.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { EmbeddedDatabase } from '../../server/embedded/database.ts'
import { superviseEmbedded } from '../../server/embedded/supervisor.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import type { ClockJumps } from './clock-jumps.ts'

/** The kernel knows how long the machine has been up, also when the clock jumps. */
const TRUE_NOW = (upSinceMs: number) =>
  `to_timestamp(${upSinceMs / 1_000} + split_part(pg_read_file('/proc/uptime'), ' ', 1)::float8)`

const OBSERVERS = (now: string) => `
  create schema chaos;
  create function chaos.true_now() returns timestamptz language sql as $$ select ${now} $$;
  create table chaos.takings (shard int, epoch bigint, node text, owner uuid, at timestamptz);
  create table chaos.finals (id uuid, state text, at timestamptz);
  create table chaos.statuses (id uuid, status text, written timestamptz, at timestamptz);
  create table chaos.events (id uuid primary key, at timestamptz);
  create table chaos.probe (at timestamptz);
  insert into chaos.probe values (now());
  create function chaos.note_taking() returns trigger language plpgsql as $$ begin
    insert into chaos.takings values
      (new.shard, new.epoch, current_setting('application_name'), new.owner, chaos.true_now());
    return null;
  end $$;
  create function chaos.note_final() returns trigger language plpgsql as $$ begin
    insert into chaos.finals values (new.id, new.state, chaos.true_now());
    return null;
  end $$;
  create function chaos.note_event() returns trigger language plpgsql as $$ begin
    insert into chaos.events values (new.id, chaos.true_now());
    return null;
  end $$;
  create function chaos.note_status() returns trigger language plpgsql as $$ begin
    insert into chaos.statuses values (new.id, new.status, new.changed_at, chaos.true_now());
    return null;
  end $$;
  create trigger note_status after update on paybell.endpoints for each row
    when (new.status <> old.status) execute function chaos.note_status();
  create trigger note_event after insert on paybell.events for each row
    execute function chaos.note_event();
  create trigger note_taking after update on paybell.leases for each row
    when (new.epoch <> old.epoch) execute function chaos.note_taking();
  create trigger note_final after insert on paybell.final_deliveries for each row
    execute function chaos.note_final();`

/** When the machine was started. The kernel tells in hundredths of a second, rounded down: the earliest of
 *  many readings is the best, and what is noted is never later than it was. */
function upSinceMs(): number {
  let earliest = Number.POSITIVE_INFINITY
  for (const until = performance.now() + 50; performance.now() < until; ) {
    const [seconds] = readFileSync('/proc/uptime', 'utf8').split(' ')
    earliest = Math.min(earliest, Date.now() - Number(seconds) * 1_000)
  }
  return earliest
}

export class ChaosDatabase {
  readonly #embedded: EmbeddedDatabase
  readonly #waiters = new Set<() => void>()

  private constructor(embedded: EmbeddedDatabase) {
    this.#embedded = embedded
  }

  static async start(dataDir: string, clock: ClockJumps | null): Promise<ChaosDatabase> {
    let database: ChaosDatabase | undefined
    const embedded = await superviseEmbedded({
      dataDir,
      log: () => {},
      maxConnections: 150,
      sharedBuffersMb: 64,
      onUp: () => database?.wake(),
      ...(clock ? { environment: clock.environment } : {}),
    })
    database = new ChaosDatabase(embedded)
    await migrate(embedded.url, new Date())
    const now = clock ? TRUE_NOW(upSinceMs()) : 'clock_timestamp()'
    await database.ask((client) => client.query(OBSERVERS(now)))
    return database
  }

  /** The folder of the real socket. */
  get socketDir(): string {
    return new URL(this.#embedded.url).searchParams.get('host') as string
  }

  /** Through another socket, under a name that the observers note. */
  urlVia(socketDir: string, name: string): string {
    const url = new URL(this.#embedded.url)
    url.searchParams.set('host', socketDir)
    url.searchParams.set('application_name', name)
    return url.href
  }

  /** kill -9, then until it serves again. */
  async kill(): Promise<void> {
    const { pid } = this.#embedded
    if (pid === undefined) return
    const back = new Promise<void>((resolve) => this.#waiters.add(resolve))
    process.kill(pid, 'SIGKILL')
    await back
  }

  wake(): void {
    for (const resolve of this.#waiters) resolve()
    this.#waiters.clear()
  }

  /** A connection of our own, not through any proxy; again when the database is away. */
  async ask<T>(work: (client: pg.Client) => Promise<T>, triesMax = 40): Promise<T> {
    for (let tries = 1; ; tries++) {
      const client = new pg.Client({
        connectionString: this.#embedded.url,
        application_name: 'chaos',
      })
      client.on('error', () => {})
      try {
        await client.connect()
        return await work(client)
      } catch (error) {
        if (tries >= triesMax) throw error
        await sleep(250)
      } finally {
        await client.end().catch(() => {})
      }
    }
  }

  /**
   * Commits again and again until it is stopped, and reports each commit that took long: on a machine
   * that is busy with other things the database is slow, and leases are short here.
   */
  probe(slowMs: number, onSlow: (ms: number) => void): () => void {
    let isStopped = false
    const look = async (client: pg.Client) => {
      while (!isStopped) {
        const askedAtMs = performance.now()
        await client.query('update chaos.probe set at = clock_timestamp()')
        const tookMs = performance.now() - askedAtMs
        if (tookMs > slowMs) onSlow(tookMs)
        await sleep(25)
      }
    }
    void (async () => {
      while (!isStopped) await this.ask(look, 1).catch(() => sleep(100))
    })()
    return () => {
      isStopped = true
    }
  }

  stop(): Promise<void> {
    return this.#embedded.stop()
  }
}
