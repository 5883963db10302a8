// What a newcomer reads first: where things are, and calls to paste.

import type { SandboxFile } from '../basics/sandbox-file.ts'

export interface Welcome extends SandboxFile {
  /** Signs the operator in at the console, once, within 10 minutes. */
  signInUrl: string
  path: string
  database: string
  readyInMs: number
  /** What to type for `paybell` in this folder. */
  command: string
}

export function printWelcome(welcome: Welcome): void {
  console.log(welcomeText(welcome))
}

/**
 * As this program was called. Where npm was given a packed file, `npx paybell` would ask the registry for a package of that
 * name, whoever may have put it there.
 */
export function commandOf(env: Readonly<Record<string, string | undefined>>): string {
  const { npm_command: verb, npm_config_package: packed, npm_lifecycle_event: script } = env
  if (verb === 'exec') {
    return packed && /^[\w@.,:/+-]+$/.test(packed)
      ? `npx --package=${packed} paybell`
      : 'npx paybell'
  }
  return script === 'start' ? 'npx paybell' : 'paybell'
}

export function welcomeText(of: Welcome): string {
  const alias = `\n  alias paybell='${of.command}'    what guides and hints call it\n`
  return `Paybell sandbox is ready after ${(of.readyInMs / 1_000).toFixed(1)} s (${of.database}).

  API           ${of.baseUrl}
  Docs          ${of.baseUrl}/docs
  Guides        ${of.baseUrl}/guides
  Console       ${of.signInUrl}
                (signs you in once, within 10 minutes; later with the operator key)
  Operator key  ${of.operatorKey}
  Client id     ${of.clientId}
  Client secret ${of.clientSecret}
  Account id    ${of.accountId}
  All of it in  ${of.path}

The same as the guides, the SDK and the command line read it, to paste into a second terminal:

  export PAYBELL_URL=${of.baseUrl} \\
    PAYBELL_CLIENT_ID=${of.clientId} \\
    PAYBELL_CLIENT_SECRET=${of.clientSecret} \\
    PAYBELL_ACCOUNT_ID=${of.accountId}

Get a token:

  curl -s ${of.baseUrl}/auth/token -H 'content-type: application/json' \\
    -d '{"clientId":"${of.clientId}","clientSecret":"${of.clientSecret}"}'

Or with the command line, in a second terminal in this folder:

  ${of.command} demo       a receiver that fails twice, and what Paybell does about it
  ${of.command} trigger    a payment, walked through its states
${of.command === 'paybell' ? '' : alias}
The README walks on from there. Stop with Ctrl-C.`
}
