// The way to another process of the same machine (`paybell serve --processes`): texts, in order, until it is closed.

export interface SiblingChannel {
  /** False where it has no room: nothing was sent. */
  send(text: string): boolean
  close(): void
}

/** What hears the other side. */
export interface SiblingEnd {
  receive(text: string): void
  closed(): void
}
