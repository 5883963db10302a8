// The other end of child.ts: a table of methods, answered one message each.

type Methods = Readonly<Record<string, (...params: never[]) => unknown>>

interface Call {
  id: number
  method: string
  params: never[]
}

export function answerCalls(methods: Methods): void {
  process.on('message', async (message) => {
    const { id, method, params } = message as Call
    try {
      const work = methods[method]
      if (work === undefined) throw new Error(`no method ${method}`)
      const result = await work(...params)
      if (id !== 0) process.send?.({ id, result })
    } catch (error) {
      if (id !== 0) process.send?.({ id, error: (error as Error).stack ?? String(error) })
    }
  })
  // The parent is gone: there is no caller left.
  process.on('disconnect', () => process.exit(0))
  process.on('SIGTERM', () => process.exit(0))
}
