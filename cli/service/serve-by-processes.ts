// `paybell serve --processes`: the parent, which serves nothing itself. It prepares the database, keeps the port, starts
// the processes that serve, starts one that died again, and replaces all of them on SIGHUP.

import cluster from 'node:cluster'
import { SilentFailure } from '../basics/run.ts'
import { StopSignals } from '../basics/stop-signals.ts'
import { countProcesses } from './count-processes.ts'
import { keepCompiled } from './keep-compiled.ts'
import { prepareService } from './prepare-service.ts'
import { Children } from './processes/children.ts'
import { NUMBER_VARIABLE, PREPARED_VARIABLE } from './processes/messages.ts'
import { makeSocketPair } from './processes/sibling-sockets.ts'
import { connectSupervisor } from './supervisor.ts'

/** A child ends its own stop after 18 seconds; docs/operations.md promises 20. */
const STOP_MS_MAX = 20_000

/** `processes` as the option has it, which comes before the setting. */
export async function serveByProcesses(processes: string | undefined): Promise<void> {
  const signals = new StopSignals()
  const env =
    processes === undefined ? process.env : { ...process.env, PAYBELL_PROCESSES: processes }
  let renew = () => {}
  // Heard from the beginning: until there is something to replace it must not end the process.
  process.on('SIGHUP', () => renew())
  const { config, logger } = await prepareService(env, signals)
  const count = countProcesses(config)
  const children = new Children({
    count,
    fork: (number, isPrepared) => fork({ ...env, ...variablesOf(number, isPrepared) }),
    makePair: () => makeSocketPair(),
    logger,
    stopMsMax: config.drainSeconds * 1_000 + STOP_MS_MAX,
    hurryMsMax: STOP_MS_MAX,
  })
  const supervisor = connectSupervisor({
    env: process.env,
    onFailure: (error) => logger.warn({ error: String(error) }, 'supervisor.not-told'),
  })
  keepCompiled()
  const failure = await Promise.race([children.open(), signals.requested.then(() => null)])
  // It has printed why.
  if (failure !== null) throw new SilentFailure(failure.code || 1)
  if (!signals.isRequested) {
    renew = () => void children.renew()
    logger.info({ processes: count }, 'processes.ready')
    await supervisor.ready()
  }
  const signal = await signals.requested
  logger.info({ signal }, 'paybell.stopping')
  void supervisor.stopping()
  const isOrderly = await children.stop(signals.insisted)
  supervisor.close()
  logger.info('paybell.stopped')
  if (!isOrderly) throw new SilentFailure()
}

/** Only the parent speaks to systemd. */
function variablesOf(number: number, isPrepared: boolean): NodeJS.ProcessEnv {
  return {
    [NUMBER_VARIABLE]: `${number}`,
    [PREPARED_VARIABLE]: isPrepared ? '1' : undefined,
    NOTIFY_SOCKET: undefined,
    WATCHDOG_USEC: undefined,
  }
}

/** Of the same program, with the same flags of Node. */
function fork(env: NodeJS.ProcessEnv) {
  // They accept from one socket (decision 0111). What the parent hands out in turn, Node's default, is neither answered nor
  // closed when the child that it was meant for is killed.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ args: ['serve'] })
  return cluster.fork(env)
}
