// Numbers on the command lines of developers. One that is none ends the program before it has begun anything, with what to give
// in its place: as NaN it would run for ever, or not at all.

/** What the arguments mean; ends the program where they mean nothing. */
export function readArguments<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}

/** Of something that is done at least once. */
export function toCount(name: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  return refuse(name, 'a whole number from 1 on', text)
}

export function toWhole(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  return refuse(name, 'a whole number from 0 on', text)
}

export function toSeconds(name: string, text: string): number {
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text)
  return refuse(name, 'a number above 0', text)
}

function refuse(name: string, what: string, text: string): never {
  throw new Error(`${name} takes ${what}, not “${text}”`)
}
