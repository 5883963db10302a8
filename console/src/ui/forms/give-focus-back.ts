// Where the focus is after a dialog: at what had it before or, where that is disabled or gone, at the heading of its
// part of the page. Never nowhere: from there a keyboard begins at the top, and a screen reader says nothing.

/** A button that is disabled while it asks the service has lost the focus when its dialog opens. */
let opener: HTMLElement | null = null
/** Kept beside it, because a row that leaves the page no longer knows where it was. */
let part: HTMLElement | null = null
document.addEventListener('focusin', ({ target }) => {
  if (!(target instanceof HTMLElement) || target.closest('dialog')) return
  opener = target
  part = target.closest('section')
})

/** The answer to what was done may disable the opener, or take its row away, after the dialog has closed. */
const watching = new MutationObserver(() => {
  if (!isUsable(opener)) placeFocus()
})

export function giveFocusBack(): void {
  placeFocus()
  watching.observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ['disabled'],
  })
  // Until the focus goes elsewhere: then it is where a person wants it.
  for (const type of ['focusin', 'pointerdown']) {
    document.addEventListener(type, () => watching.disconnect(), { once: true })
  }
}

function placeFocus(): void {
  if (isElsewhere(document.activeElement)) return
  if (isUsable(opener)) {
    opener.focus({ preventScroll: true })
    if (document.activeElement === opener) return
  }
  const heading = (part?.isConnected && part.querySelector<HTMLElement>('h2, h3')) || readTitle()
  if (heading === null) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

function isElsewhere(focused: Element | null): boolean {
  if (focused === null || focused === document.body || focused === opener) return false
  return focused.closest('dialog:not([open])') === null
}

function isUsable(element: HTMLElement | null): element is HTMLElement {
  return element?.isConnected === true && !element.matches(':disabled')
}

function readTitle(): HTMLElement | null {
  return document.querySelector('main h1')
}
