// `paybell doctor`: looks at everything that must be right before Paybell can keep its promises, and
// says what to do about what is not. Changes nothing.

import type { Command } from 'commander'
import { type Call, calling, JSON_HELP, plainCommand } from '../basics/command.ts'
import type { Check } from '../basics/doctor-check.ts'
import { gather } from '../basics/parse.ts'
import { SilentFailure } from '../basics/run.ts'
import { type Paint, plural, safe } from '../basics/terminal.ts'

interface DoctorOptions {
  egress?: string[]
}

export function doctorCommand(): Command {
  return plainCommand(
    'doctor',
    'Check settings, database, clock, migrations, keys and network; say what to do.',
    [
      'paybell doctor',
      'paybell doctor --egress https://shop.example.com/hooks',
      'paybell doctor --json | jq ".checks[] | select(.status == \\"failed\\")"',
    ],
  )
    .option('--egress <url>', 'also try to connect to this address, as callbacks do', gather)
    .option('--json', JSON_HELP)
    .action(calling(doctor))
}

async function doctor(call: Call<DoctorOptions>): Promise<void> {
  // Loads the store, which only this command needs.
  const { runChecks } = await import('../service/checks/doctor-checks.ts')
  const checks: Check[] = []
  for await (const check of runChecks({
    env: process.env,
    dataDir: call.target.config.dataDir,
    serviceUrl: call.target.config.url,
    operatorKey: call.target.config.operatorKey,
    assertSafe: (url) => call.target.assertSafe(url),
    egress: call.options.egress ?? [],
  })) {
    checks.push(check)
    if (!call.isJson) call.print(checkText(check, call.paint))
  }
  const failed = checks.filter(({ status }) => status === 'failed').length
  const warned = checks.filter(({ status }) => status === 'warning').length
  if (call.isJson) call.print(JSON.stringify({ ok: failed === 0, checks }))
  else call.print(`\n${summary(failed, warned)}`)
  if (failed > 0) throw new SilentFailure()
}

function summary(failed: number, warned: number): string {
  const warnings = plural(warned, 'warning')
  if (failed > 0) return `${plural(failed, 'check')} failed${warned > 0 ? `, ${warnings}` : ''}.`
  return warned > 0 ? `No check failed, ${warnings}.` : 'All checks passed.'
}

function checkText(check: Check, paint: Paint): string {
  const marks = {
    ok: paint.green('ok     '),
    warning: paint.yellow('warning'),
    failed: paint.red('FAILED '),
    skipped: paint.dim('skipped'),
  }
  const line = `${marks[check.status]}  ${paint.bold(check.name.padEnd(11))}  ${safe(check.detail)}`
  return check.remedy ? `${line}\n${' '.repeat(22)}${check.remedy}` : line
}
