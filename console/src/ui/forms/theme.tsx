// Light or dark: the system's preference, unless this viewer chose (public/theme.js applies it early).

import { useEffect, useState } from 'react'
import { Choice } from './field.tsx'

type Theme = 'system' | 'light' | 'dark'

const KEY = 'paybell-theme'
const CHANGED = 'paybell:theme'

export function ThemeToggle() {
  const [theme, setTheme] = useState<Theme>(chosenTheme)
  const choose = (next: Theme) => {
    setTheme(next)
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    window.dispatchEvent(new Event(CHANGED))
    try {
      if (next === 'system') localStorage.removeItem(KEY)
      else localStorage.setItem(KEY, next)
    } catch {
      // Without storage the choice holds for this page.
    }
  }
  return (
    <Choice
      label="Theme"
      value={theme}
      onChange={choose}
      options={[
        ['system', 'Auto'],
        ['light', 'Light'],
        ['dark', 'Dark'],
      ]}
    />
  )
}

function chosenTheme(): Theme {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** A number that rises when the theme changes: for what is drawn on a canvas. */
export function useThemeCount(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const raise = () => setCount((before) => before + 1)
    const system = window.matchMedia('(prefers-color-scheme: dark)')
    window.addEventListener(CHANGED, raise)
    system.addEventListener('change', raise)
    return () => {
      window.removeEventListener(CHANGED, raise)
      system.removeEventListener('change', raise)
    }
  }, [])
  return count
}
