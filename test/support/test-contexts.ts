// Loaded before Node's test runner (`node --import`). The runner finds the test that code belongs to by an async
// hook, which is called at the birth and at the death of every promise: half of the simulator's work was that.
// AsyncLocalStorage answers the same question, and V8 carries its value along without calling anything. So the
// runner is loaded with an `async_hooks` in which a test's scope is such a value; all other code has Node's own.

import hooks, {
  type AsyncHook,
  AsyncLocalStorage,
  AsyncResource,
  type HookCallbacks,
} from 'node:async_hooks'
import { createRequire } from 'node:module'

/** The number of the test, or of the runner's own resource, that the running code belongs to. */
const scope = new AsyncLocalStorage<number>()

/** The runner's own hook, which is called for its own resources alone. */
let onBirth: HookCallbacks['init']

class Scope extends AsyncResource {
  constructor(type: string, options?: ConstructorParameters<typeof AsyncResource>[1]) {
    super(type, options)
    onBirth?.(this.asyncId(), type, this.triggerAsyncId(), this)
  }

  override runInAsyncScope<This, Result>(
    work: (this: This, ...args: never[]) => Result,
    thisArg?: This,
    ...args: unknown[]
  ): Result {
    const inScope = () => Reflect.apply(work, thisArg, args)
    return super.runInAsyncScope(() => scope.run(this.asyncId(), inScope))
  }
}

function createHook({ init }: HookCallbacks): AsyncHook {
  const hook: AsyncHook = {
    enable() {
      onBirth = init
      return hook
    },
    disable() {
      onBirth = undefined
      return hook
    },
  }
  return hook
}

const { executionAsyncId, createHook: createNodesHook } = hooks
Object.assign(hooks, {
  AsyncResource: Scope,
  createHook,
  executionAsyncId: () => scope.getStore() ?? executionAsyncId(),
})
// It takes what it needs of them while it is loaded.
createRequire(import.meta.url)('node:test')
Object.assign(hooks, { AsyncResource, createHook: createNodesHook, executionAsyncId })
