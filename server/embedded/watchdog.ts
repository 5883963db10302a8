// Stops the database when Paybell dies without stopping it (kill -9, out of memory): a small shell that
// waits for the end of a pipe, which the kernel closes for a dead process. It is optional: the next start
// is safe without it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Watchdog {
  stop(): Promise<void>
}

// $1 postmaster, $2 cluster, $3 run directory. The number is compared with postmaster.pid before each
// signal, because another process may have it by then.
const SCRIPT = `
read -r _
runs() { read -r pid < "$2/postmaster.pid" && [ "$pid" = "$1" ] && kill -0 "$1"; }
runs "$1" "$2" && kill -INT "$1"
n=0
while runs "$1" "$2" && [ $n -lt 20 ]; do n=$((n + 1)); sleep 1; done
runs "$1" "$2" && kill -QUIT "$1"
rm -rf "$3"
`

export function startWatchdog(pid: number, clusterDir: string, runDir: string): Watchdog {
  if (process.platform === 'win32') return { stop: async () => {} }
  const args = ['-c', SCRIPT, 'paybell-watchdog', `${pid}`, clusterDir, runDir]
  // In a session of its own, so that a Ctrl-C, or a signal to the whole group, does not reach it.
  const shell = spawn('/bin/sh', args, {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const gone = once(shell, 'exit').catch(() => {}) // Without a shell there is no watchdog.
  shell.stdin.on('error', () => {})
  shell.unref()
  ;(shell.stdin as unknown as { unref(): void }).unref()
  return {
    async stop() {
      shell.ref()
      shell.kill('SIGKILL')
      await gone
    },
  }
}
