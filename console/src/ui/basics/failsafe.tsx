// A mistake of ours in one page leaves the rest of the console usable.

import { Component, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Notice } from './messages.tsx'

export class Failsafe extends Component<{ children: ReactNode }, { failure: Error | null }> {
  override state: { failure: Error | null } = { failure: null }

  static getDerivedStateFromError(failure: Error): { failure: Error } {
    return { failure }
  }

  override render(): ReactNode {
    const { failure } = this.state
    if (failure === null) return this.props.children
    return (
      <Notice tone="bad" title="This page failed">
        <p>{failure.message}</p>
        <p>After an update of the service, reloading the console fixes this.</p>
        <Button onClick={() => window.location.reload()}>Reload</Button>
      </Notice>
    )
  }
}
