// Where the embedded database tells what it does: one line each, handed in by its user.

export type Log = (line: { msg: string } & Record<string, unknown>) => void
