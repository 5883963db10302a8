// Explains a failure to listen in words that name the setting: a taken port is the most common first
// failure.

/** Other errors are returned as they are. */
export function describeListenFailure(
  error: unknown,
  at: { setting: string; host: string; port: number },
): unknown {
  const words = wordsOf((error as NodeJS.ErrnoException).code, at)
  return words === null ? error : new Error(words, { cause: error })
}

function wordsOf(
  code: string | undefined,
  { setting, host, port }: { setting: string; host: string; port: number },
): string | null {
  const where = `port ${port} on ${host}`
  switch (code) {
    case 'EADDRINUSE':
      return `${where} is taken. Stop what listens there, or choose another port with ${setting}; 0 takes a free one.`
    case 'EACCES':
    case 'EPERM':
      return `${where} may not be used by this user. Choose one above 1023 with ${setting}.`
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this machine. Choose one with HOST; 0.0.0.0 means all of them.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return `${host} cannot be resolved to an address. Choose one with HOST; 0.0.0.0 means all of them.`
    default:
      return null
  }
}
