// `paybell login`, `logout` and `profiles`: who this machine is at which service, kept for the commands that follow.

import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import { clientBearer, readClientKeyFile } from '../basics/client-credentials.ts'
import { type Call, calling, family, JSON_HELP, plainCommand } from '../basics/command.ts'
import { id, webUrl } from '../basics/parse.ts'
import {
  DEFAULT_PROFILE,
  type NamedProfile,
  Profiles,
  type SavedService,
} from '../basics/profiles.ts'
import { UsageError } from '../basics/run.ts'
import { readSecret } from '../basics/secret-input.ts'
import { operatorApi, SESSION_PREFIX } from '../basics/target.ts'
import { safe } from '../basics/terminal.ts'
import { ssoService } from './sso-login.ts'

interface LoginOptions {
  operator?: boolean
  sso?: boolean
  /** False with --no-browser. */
  browser?: boolean
}

export function loginCommand(): Command {
  return plainCommand(
    'login',
    'Sign in to a service, for all commands that follow on this machine.',
    [
      'paybell login --url https://payments.example.com',
      'paybell login live --url https://payments.example.com --client-id ID < secret.txt',
      'paybell login live --url https://payments.example.com --client-id ID --key-file client.pem',
      'paybell login ops --url https://payments.example.com --operator < key.txt',
      'paybell login me --url https://payments.example.com --sso',
    ],
  )
    .argument('[profile]', 'name to keep it under', profileName, DEFAULT_PROFILE)
    .option('--json', JSON_HELP)
    .requiredOption('--url <url>', 'address of the service', webUrl)
    .option('--client-id <id>', 'the client; asked for on a terminal', id)
    .option('--account <id>', 'the account that commands mean which name none', id)
    .option('--key-file <file>', "with the client's private key (PEM or JWK) instead of a secret")
    .option('--operator', 'with an operator key instead of credentials of a client')
    .option('--sso', 'as an operator with your company, in the browser, for 8 hours')
    .option('--no-browser', 'with --sso: print the address and open no browser')
    .addHelpText(
      'after',
      '\nThe secret is asked for on a terminal, or read from stdin. It is kept in ~/.config/paybell/profiles.json (mode 0600); a private key stays in its file.',
    )
    .action(calling(login))
}

async function login(call: Call<LoginOptions>, name: string): Promise<void> {
  const { url, operator, sso, account, clientId, keyFile } = call.options
  const baseUrl = url as string
  if (sso && (operator || (clientId ?? account) !== undefined)) {
    throw new UsageError(
      '--sso is for people: give neither --operator nor --client-id nor --account.',
    )
  }
  if (keyFile !== undefined && (operator || sso)) {
    throw new UsageError('--key-file is for clients: give neither --operator nor --sso.')
  }
  await call.target.assertSafe(baseUrl)
  const { service, as } = sso
    ? await ssoService(call, baseUrl)
    : asItself(
        operator
          ? await operatorService(baseUrl)
          : {
              ...(await clientService(baseUrl, clientId ?? (await askForClient()), keyFile)),
              ...(account === undefined ? {} : { accountId: account }),
            },
      )
  const profiles = new Profiles(call.target.config.configDir)
  await profiles.save(name, service)
  const { isDefault } = (await profiles.find(name)) as NamedProfile
  if (call.isJson) {
    call.print(JSON.stringify(shown({ name, service, isDefault })))
    return
  }
  call.print(`Signed in to ${baseUrl} as ${as}.`)
  call.note(`Kept as the profile ${name} in ${profiles.path}.`)
  if (!isDefault) call.note(`Use it with --profile ${name}, or: paybell profiles use ${name}`)
}

function asItself(service: SavedService): { service: SavedService; as: string } {
  return { service, as: callerOf(service) }
}

async function askForClient(): Promise<string> {
  if (process.stdin.isTTY !== true) throw new UsageError('no client is named. Give --client-id ID.')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return id((await lines.question('Client id: ')).trim())
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new UsageError('the client id is a uuid.')
    throw error
  } finally {
    lines.close()
  }
}

/** Tried before it is kept: a mistyped secret shows here, not at the first command. */
async function clientService(
  baseUrl: string,
  clientId: string,
  keyFile: string | undefined,
): Promise<SavedService> {
  if (keyFile !== undefined) {
    const privateKey = await readClientKeyFile(keyFile)
    await clientBearer(baseUrl, { clientId, privateKey }).get()
    return { baseUrl, clientId, clientKeyFile: resolve(keyFile) }
  }
  const clientSecret = required(await readSecret('Client secret'), 'no secret is given.')
  await clientBearer(baseUrl, { clientId, clientSecret }).get()
  return { baseUrl, clientId, clientSecret }
}

async function operatorService(baseUrl: string): Promise<SavedService> {
  const operatorKey = required(await readSecret('Operator key'), 'no key is given.')
  try {
    await operatorApi(baseUrl, operatorKey).get('/operator/v1/clients', { size: 1 })
  } catch (error) {
    // A role that may not list clients is a role all the same.
    if (!(error instanceof PaybellError && error.status === 403)) throw error
  }
  return { baseUrl, operatorKey }
}

function required(secret: string, message: string): string {
  if (secret === '') throw new UsageError(`${message} Type it, or send it on stdin.`)
  return secret
}

export function logoutCommand(): Command {
  return plainCommand(
    'logout',
    'Forget a service that this machine was signed in to, and end a session of --sso there.',
    ['paybell logout live'],
  )
    .argument('[profile]', 'name of the profile', profileName, DEFAULT_PROFILE)
    .option('--json', JSON_HELP)
    .action(
      calling(async (call: Call, name: string) => {
        const profiles = new Profiles(call.target.config.configDir)
        const profile = await profiles.find(name)
        // Forgotten first: what the service says to it changes nothing here.
        if (!(await profiles.remove(name))) throw new UsageError(unknownProfile(name))
        const sessionEnded = profile === null ? null : await endSession(call, profile.service)
        if (call.isJson) {
          call.print(
            JSON.stringify({ removed: name, ...(sessionEnded === null ? {} : { sessionEnded }) }),
          )
        } else call.print(`The profile ${name} is forgotten.`)
      }),
    )
}

/** Null where there is nothing to end: keys and secrets are ended by commands of their own. */
async function endSession(call: Call, { baseUrl, operatorKey }: SavedService) {
  if (!operatorKey?.startsWith(SESSION_PREFIX)) return null
  try {
    await call.target.assertSafe(baseUrl)
    await operatorApi(baseUrl, operatorKey).call('DELETE', '/console/oidc/session')
    return true
  } catch (error) {
    const reason = safe(error instanceof Error ? error.message : String(error))
    call.note(
      `The session could not be ended at the service, where it ends by itself 8 hours after the sign-in. ${reason}`,
    )
    return false
  }
}

export function profilesCommand(): Command {
  return family('profiles', 'List the services that this machine is signed in to.', [
    listProfiles(),
    useProfile(),
  ])
}

function listProfiles(): Command {
  return plainCommand('list', 'List them; their secrets are not shown.', ['paybell profiles list'])
    .option('--json', JSON_HELP)
    .action(
      calling(async (call: Call) => {
        const all = await new Profiles(call.target.config.configDir).list()
        if (call.isJson) {
          call.print(JSON.stringify(all.map(shown)))
          return
        }
        call.table(
          [
            { title: 'PROFILE', of: ({ name }) => name },
            { title: 'SERVICE', of: ({ service }) => service.baseUrl },
            { title: 'AS', of: ({ service }) => callerOf(service) },
            { title: 'USED', of: ({ isDefault }) => (isDefault ? 'by default' : null) },
          ],
          all,
          'There is none. Sign in: paybell login --url URL',
        )
      }),
    )
}

function useProfile(): Command {
  return plainCommand('use', 'Choose the profile of commands that name none.', [
    'paybell profiles use live',
  ])
    .argument('<profile>', 'name of the profile', profileName)
    .option('--json', JSON_HELP)
    .action(
      calling(async (call: Call, name: string) => {
        const profiles = new Profiles(call.target.config.configDir)
        if (!(await profiles.use(name))) throw new UsageError(unknownProfile(name))
        if (call.isJson) call.print(JSON.stringify({ used: name }))
        else call.print(`Commands that name no profile use ${name}.`)
      }),
    )
}

function shown({ name, service, isDefault }: NamedProfile) {
  const { baseUrl, clientId, accountId, operatorKey } = service
  return { name, baseUrl, isDefault, isOperator: operatorKey !== undefined, clientId, accountId }
}

function callerOf({ clientId }: SavedService): string {
  return clientId === undefined ? 'an operator' : `the client ${clientId}`
}

function unknownProfile(name: string): string {
  return `there is no profile ${name}. See them: paybell profiles list`
}

function profileName(text: string): string {
  if (!/^[\w.-]{1,64}$/.test(text) || text === '__proto__') {
    throw new InvalidArgumentError('Give up to 64 letters, digits, dots, hyphens and underscores.')
  }
  return text
}
