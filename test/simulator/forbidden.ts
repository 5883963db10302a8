// While a simulation runs, no code reaches for the real world: the clock, timers, dice and network of
// the process throw. Pure uses stay, such as a Date made of a number.

import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

type Restore = () => void

/** Returns the function that gives everything back. */
export function forbidTheWorld(): Restore {
  const restores: Restore[] = []
  const replace = (owner: object, name: string, value: unknown) => {
    const before = Object.getOwnPropertyDescriptor(owner, name)
    Object.defineProperty(owner, name, { value, configurable: true, writable: true })
    restores.push(() => {
      if (before) Object.defineProperty(owner, name, before)
      else Reflect.deleteProperty(owner, name)
    })
  }
  const forbid = (owner: object, name: string) =>
    replace(owner, name, () => {
      throw new Error(`${name} is not to be used inside a simulation`)
    })

  replace(globalThis, 'Date', forbiddenDate())
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'fetch']) {
    forbid(globalThis, name)
  }
  forbid(Math, 'random')
  forbid(performance, 'now')
  for (const name of ['randomBytes', 'randomUUID', 'randomInt', 'randomFillSync', 'randomFill']) {
    forbid(crypto, name)
  }
  forbid(globalThis.crypto, 'getRandomValues')
  forbid(globalThis.crypto, 'randomUUID')
  syncBuiltinESMExports()
  return () => {
    for (const restore of restores.toReversed()) restore()
    syncBuiltinESMExports()
  }
}

function forbiddenDate(): unknown {
  const RealDate = Date
  return new Proxy(RealDate, {
    construct(target, given) {
      if (given.length === 0) throw new Error('new Date() is not to be used inside a simulation')
      return Reflect.construct(target, given)
    },
    apply() {
      throw new Error('Date() is not to be used inside a simulation')
    },
    get(target, name) {
      if (name === 'now') {
        return () => {
          throw new Error('Date.now is not to be used inside a simulation')
        }
      }
      return Reflect.get(target, name)
    },
  })
}
