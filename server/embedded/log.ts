// The log of the embedded database: one line per event, written by a function that its user passes in.

export type Log = (line: { msg: string } & Record<string, unknown>) => void
