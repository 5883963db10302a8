// A deliberate fault whose own code is broken proves nothing: a name that is not there, or what is no code, is noticed by any
// test and by any seed. It counts as caught by none of them.

const OF_CODE = /\b(?:Reference|Syntax)Error\b/

/** `said` is what a test has printed of its failure, or what came up in a seed. */
export function refuseBroken(said: string): void {
  if (OF_CODE.test(said))
    throw new Error(`the fault itself is broken, its code does not run:\n${said}`)
}
