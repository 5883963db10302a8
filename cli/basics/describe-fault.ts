// An error in words: for a file that cannot be used, what is wrong with it. Node's own words name the system's call.

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not use it',
  EISDIR: 'it is a folder, not a file',
}

export function describeFault(error: unknown): string {
  const { code, path } = (error ?? {}) as NodeJS.ErrnoException
  const fault = FILE_FAULTS[code ?? '']
  if (fault !== undefined && path !== undefined) return `${path}: ${fault}.`
  return error instanceof Error ? error.message : String(error)
}
