// How the text of one setting is found: in its variable, in the file that `<NAME>_FILE` names, or in the
// table. Faults are gathered, by name and never by value.

export interface Setting {
  name: string
  /** Shown in `.env.example`; the text a setting takes when it is left out. */
  fallback?: string
  /** Where the sandbox differs. */
  sandboxFallback?: string
  /** Secrets may come from a file named by `<NAME>_FILE`, and are never printed. */
  secret?: true
  /** Production refuses to start without it. */
  required?: true
  /** Has a meaning only in the sandbox; refused in production. */
  sandboxOnly?: true
  about: string
}

export type Mode = 'sandbox' | 'production'
export type Environment = Readonly<Record<string, string | undefined>>
export type ReadFile = (path: string) => string

/** Everything that is wrong with the settings, a line each. */
export class ConfigError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(`these settings are invalid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

export function readSetting(
  setting: Setting,
  mode: Mode,
  env: Environment,
  readFile: ReadFile,
  faults: string[],
): string | undefined {
  let text = given(env[setting.name])
  const file = setting.secret ? given(env[`${setting.name}_FILE`]) : undefined
  if (file !== undefined) {
    if (text !== undefined) {
      faults.push(`${setting.name} and ${setting.name}_FILE are both set: keep one`)
    }
    text = given(tryRead(file, readFile)?.trim())
    if (text === undefined)
      faults.push(`${setting.name}_FILE must name a readable file that is not empty`)
  }
  if (setting.sandboxOnly && mode === 'production' && text !== undefined) {
    faults.push(`${setting.name} works only in the sandbox: remove it`)
    return undefined
  }
  if (text !== undefined) return text
  if (setting.required && mode === 'production' && file === undefined) {
    faults.push(`${setting.name} is missing. ${setting.about}`)
  }
  return mode === 'sandbox' ? (setting.sandboxFallback ?? setting.fallback) : setting.fallback
}

// An empty variable is what `.env` files and orchestrators leave for "not set".
export function given(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text
}

export function tryRead(path: string, readFile: ReadFile): string | undefined {
  try {
    return readFile(path)
  } catch {
    return undefined
  }
}
